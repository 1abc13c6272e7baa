import { constants } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import tls from 'node:tls'
import type { KeyPairPlan, ListenerTlsPlan } from '@sluice/config'
import { certificateNames } from '@sluice/config/serving'
import { readCertificates, readTlsFiles } from '@sluice/core'
import { TLS_CIPHERS } from '../../tls-ciphers.js'

const TLS13_CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

/** The certificates of a listener, loaded from disk and ready for handshakes. */
export class Certificates {
  readonly #plan: ListenerTlsPlan
  /** State of the files at the last read. */
  #stamp = ''
  #own: tls.SecureContextOptions = {}
  #byName = new Map<string, tls.SecureContext>()

  /** @throws Error if a file cannot be read, or if a key does not match its certificate. */
  constructor(plan: ListenerTlsPlan) {
    this.#plan = plan
    this.refresh()
  }

  /** Default certificate, for clients without a server name or with an unknown one. */
  get own(): tls.SecureContextOptions {
    return this.#own
  }

  /** Returns the certificate for a server name, or undefined to use the default. */
  find(serverName: string): tls.SecureContext | undefined {
    const name = serverName.toLowerCase()
    return this.#byName.get(name) ?? this.#byName.get(`*${name.slice(name.indexOf('.'))}`)
  }

  /**
   * Rereads the files if they have changed. Returns true if they have. If a file is unreadable, the present
   * certificates stay in use, and the files are tried again after the next change.
   * @throws Error if a file cannot be read.
   */
  refresh(): boolean {
    const stamp = this.#files().map(stampOf).join()
    if (stamp === this.#stamp) return false
    this.#stamp = stamp
    const own = this.#optionsOf(this.#plan)
    tls.createSecureContext(own)
    const byName = new Map<string, tls.SecureContext>()
    for (const certificate of this.#plan.certificates) {
      const context = tls.createSecureContext(this.#optionsOf(certificate))
      const { certFile, serverNames } = certificate
      for (const name of certificateNames(serverNames, () => readFileSync(certFile)))
        byName.set(name, context)
    }
    this.#own = own
    this.#byName = byName
    return true
  }

  #optionsOf({ certFile, keyFile }: KeyPairPlan): tls.SecureContextOptions {
    const { clientCaFile, minVersion } = this.#plan
    return {
      ...readTlsFiles({ certFile, keyFile }),
      // A file without certificates would refuse every client, with no report of the reason.
      ...(clientCaFile === null ? {} : { ca: readCertificates(clientCaFile, 'tls.clientCaFile') }),
      ciphers: `${TLS_CIPHERS}:${TLS13_CIPHERS}`,
      honorCipherOrder: true,
      // Renegotiation would let a client request endless handshakes.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      minVersion,
      // Required to resume sessions of clients with certificates.
      sessionIdContext: 'sluice',
    }
  }

  #files(): string[] {
    const { clientCaFile, certificates } = this.#plan
    const pairs = [this.#plan, ...certificates].flatMap(({ certFile, keyFile }) => [certFile, keyFile])
    return clientCaFile === null ? pairs : [...pairs, clientCaFile]
  }
}

function stampOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file)
  return `${mtimeMs}:${size}:${ino}`
}
