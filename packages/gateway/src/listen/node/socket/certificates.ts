import { constants, createHash, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import tls from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { certificateNames } from '@sluice/config/serving'
import { readCertificates, readTlsFiles, type TlsFileContents } from '@sluice/core'
import { TLS_CIPHERS } from '../../tls-ciphers.js'

const TLS13_CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

/** The certificates of a listener, loaded from disk and ready for handshakes. */
export class Certificates {
  readonly #plan: ListenerTlsPlan
  /** State of the files at the last read. */
  #stamp = ''
  #own: tls.SecureContextOptions = {}
  #byName = new Map<string, tls.SecureContext>()
  #digest = ''
  /** OCSP responses by the bytes of the certificate. */
  #staples = new Map<string, Buffer>()

  /** @throws Error if a file cannot be read, or if a key does not match its certificate. */
  constructor(plan: ListenerTlsPlan) {
    this.#plan = plan
    this.refresh()
  }

  /** Default certificate, for clients without a server name or with an unknown one. */
  get own(): tls.SecureContextOptions {
    return this.#own
  }

  /** SHA-256 of the TLS settings, certificates and client CAs. Sessions must not outlive a change of any of them. */
  get digest(): string {
    return this.#digest
  }

  /** True if at least one certificate has an OCSP response. */
  get hasStaples(): boolean {
    return this.#staples.size > 0
  }

  /** Returns the OCSP response for a certificate in DER, or null if it has none. */
  stapleOf(certificate: Buffer): Buffer | null {
    return this.#staples.get(certificate.toString('latin1')) ?? null
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
    const { certificates, clientCaFile } = this.#plan
    // Throws if the file has no certificate. Otherwise, TLS would refuse every client without a reason.
    const ca = clientCaFile === null ? undefined : readCertificates(clientCaFile, 'tls.clientCaFile')
    const pairs = [this.#plan, ...certificates].map(({ certFile, keyFile }) =>
      readTlsFiles({ certFile, keyFile }),
    )
    const contents = [this.#plan, String(ca), pairs.map(({ cert }) => String(cert))]
    const digest = createHash('sha256').update(JSON.stringify(contents)).digest('hex')
    const [own, ...named] = pairs.map((pair) => this.#optionsOf({ ...pair, ...(ca && { ca }) }, digest))
    tls.createSecureContext(own)
    const staples = new Map<string, Buffer>()
    for (const { certFile, ocspFile } of [this.#plan, ...certificates]) {
      const response = ocspFile === undefined ? null : readFileSync(ocspFile)
      const { raw, serialNumber } = new X509Certificate(readFileSync(certFile))
      if (response?.includes(Buffer.from(serialNumber, 'hex'))) staples.set(raw.toString('latin1'), response)
    }
    const byName = new Map<string, tls.SecureContext>()
    for (const [i, { certFile, serverNames }] of certificates.entries()) {
      const context = tls.createSecureContext(named[i])
      for (const name of certificateNames(serverNames, () => readFileSync(certFile)))
        byName.set(name, context)
    }
    this.#own = own!
    this.#digest = digest
    this.#staples = staples
    this.#byName = byName
    return true
  }

  #optionsOf(files: TlsFileContents, digest: string): tls.SecureContextOptions {
    return {
      ...files,
      ciphers: `${TLS_CIPHERS}:${TLS13_CIPHERS}`,
      honorCipherOrder: true,
      // Renegotiation would let a client request endless handshakes.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      minVersion: this.#plan.minVersion,
      // OpenSSL resumes only sessions with the same context. It has at most 32 bytes.
      sessionIdContext: digest.slice(0, 32),
    }
  }

  #files(): string[] {
    const { clientCaFile, certificates } = this.#plan
    const own = [this.#plan, ...certificates].flatMap(({ certFile, keyFile, ocspFile }) => [
      certFile,
      keyFile,
      ...(ocspFile === undefined ? [] : [ocspFile]),
    ])
    return clientCaFile === null ? own : [...own, clientCaFile]
  }
}

function stampOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file)
  return `${mtimeMs}:${size}:${ino}`
}
