import type net from 'node:net'
import tls from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { Certificates } from './certificates.js'

/** How often the files of certificates are looked at. */
const WATCH_MS = 10_000

export interface TlsServerOptions {
  readonly plan: ListenerTlsPlan
  /** Clients may choose HTTP/2 (ALPN). */
  readonly hasHttp2: () => boolean
  /** Longest time for a handshake. */
  readonly handshakeMs: number
  /** Hears of certificates that cannot be read; those that serve stay. */
  readonly onFault: (error: unknown) => void
  /** Hears when changed files serve. */
  readonly onRenewal: () => void
  /** Default: 10 s. */
  readonly watchMs?: number
}

/** TLS on the sockets of a listener. Changed certificates serve the handshakes that begin from then on. */
export class TlsServer {
  readonly #certificates: Certificates
  readonly #server: tls.Server
  readonly #onFault: (error: unknown) => void
  readonly #onRenewal: () => void
  readonly #watch: NodeJS.Timeout
  readonly #asksForCertificates: boolean

  /** @throws Error when a certificate cannot be read. */
  constructor({ plan, hasHttp2, handshakeMs, onFault, onRenewal, watchMs = WATCH_MS }: TlsServerOptions) {
    const certificates = new Certificates(plan)
    this.#certificates = certificates
    this.#asksForCertificates = plan.clientCaFile !== null
    this.#onFault = onFault
    this.#onRenewal = onRenewal
    this.#server = tls.createServer({
      ...certificates.own,
      SNICallback: (name, done) => done(null, certificates.find(name)),
      requestCert: plan.clientCaFile !== null,
      rejectUnauthorized: plan.clientCaFile !== null && plan.clientCertificate !== 'optional',
      ALPNCallback: ({ protocols }) =>
        hasHttp2() && protocols.includes('h2') ? 'h2' : protocols.find((name) => name === 'http/1.1'),
      handshakeTimeout: handshakeMs,
    })
    // Whoever fails at the handshake has no request that could be answered.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy())
    this.#watch = setInterval(() => this.refresh(), watchMs)
    this.#watch.unref()
  }

  /** Begins the handshake on a socket. */
  accept(socket: net.Socket): void {
    this.#server.emit('connection', socket)
  }

  /** Who gets the sockets whose handshake is done. */
  onSecure(receiver: (socket: tls.TLSSocket) => void): void {
    this.#server.on('secureConnection', (socket) => {
      if (hasUnverifiedCertificate(socket, this.#asksForCertificates)) socket.destroy()
      else receiver(socket)
    })
  }

  /** Reads the certificates again where they have changed. */
  refresh(): void {
    try {
      if (!this.#certificates.refresh()) return
      this.#server.setSecureContext(this.#certificates.own)
      this.#onRenewal()
    } catch (error) {
      this.#onFault(error)
    }
  }

  close(): void {
    clearInterval(this.#watch)
  }
}

/** Where certificates are optional, one that cannot be verified is refused as it is where they are required. */
function hasUnverifiedCertificate(socket: tls.TLSSocket, isAskedFor: boolean): boolean {
  return isAskedFor && !socket.authorized && socket.getPeerX509Certificate() !== undefined
}
