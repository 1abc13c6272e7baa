import { constants, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import tls from 'node:tls'
import type { KeyPairPlan, ListenerTlsPlan } from '@sluice/config'
import { certificateNames } from '@sluice/config/serving'
import { TLS_CIPHERS } from '../tls-ciphers.js'

const TLS13_CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

/** The certificates of a listener as they are on disk, each ready for handshakes. */
export class Certificates {
  readonly #plan: ListenerTlsPlan
  /** What the files were when they were read last. */
  #stamp = ''
  #own: tls.SecureContextOptions = {}
  #byName = new Map<string, tls.SecureContext>()

  /** @throws Error when a file cannot be read, or a key does not belong to its certificate. */
  constructor(plan: ListenerTlsPlan) {
    this.#plan = plan
    this.refresh()
  }

  /** For clients that ask for no name, or for one that no certificate is for. */
  get own(): tls.SecureContextOptions {
    return this.#own
  }

  /** The certificate for a name; undefined: the listener's own. */
  find(serverName: string): tls.SecureContext | undefined {
    const name = serverName.toLowerCase()
    return this.#byName.get(name) ?? this.#byName.get(`*${name.slice(name.indexOf('.'))}`)
  }

  /**
   * Reads the files again where they have changed; true: they have. Those that serve stay when one cannot be read, and are
   * tried again when the files change once more.
   * @throws Error when a file cannot be read.
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
      cert: readFileSync(certFile),
      key: readFileSync(keyFile),
      ...(clientCaFile === null ? {} : { ca: readAuthorities(clientCaFile) }),
      ciphers: `${TLS_CIPHERS}:${TLS13_CIPHERS}`,
      honorCipherOrder: true,
      // A client could ask for one handshake after the other.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      minVersion,
      // Without one a session cannot be resumed where clients have certificates.
      sessionIdContext: 'sluice',
    }
  }

  #files(): string[] {
    const { clientCaFile, certificates } = this.#plan
    const pairs = [this.#plan, ...certificates].flatMap(({ certFile, keyFile }) => [certFile, keyFile])
    return clientCaFile === null ? pairs : [...pairs, clientCaFile]
  }
}

/** @throws Error when there is no certificate in the file: nobody could come in, and nothing would report why. */
function readAuthorities(file: string): Buffer {
  const bytes = readFileSync(file)
  try {
    new X509Certificate(bytes)
  } catch (cause) {
    throw new Error(`${file} holds no certificate of an authority`, { cause })
  }
  return bytes
}

function stampOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file)
  return `${mtimeMs}:${size}:${ino}`
}
