import type net from 'node:net'
import tls from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { Certificates } from './certificates.js'

/** Interval between checks of the certificate files, in milliseconds. */
const WATCH_MS = 10_000

interface TlsServerOptions {
  readonly plan: ListenerTlsPlan
  /** Returns true if clients may choose HTTP/2 by ALPN. */
  readonly hasHttp2: () => boolean
  /** Timeout for a handshake in milliseconds. */
  readonly handshakeMs: number
  /** Called if certificates cannot be read. The present ones stay in use. */
  readonly onFault: (error: unknown) => void
  /** Called when renewed certificates are in use. */
  readonly onRenewal: () => void
  /** Interval between checks of the files, in milliseconds. Default: 10 s. */
  readonly watchMs?: number
}

/** TLS for the sockets of a listener. Renewed certificates are used for new handshakes. */
export class TlsServer {
  readonly #certificates: Certificates
  readonly #server: tls.Server
  readonly #onFault: (error: unknown) => void
  readonly #onRenewal: () => void
  readonly #watch: NodeJS.Timeout
  readonly #asksForCertificates: boolean

  /** @throws Error if a certificate cannot be read. */
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
    // After a failed handshake there is no request to answer.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy())
    this.#watch = setInterval(() => this.refresh(), watchMs)
    this.#watch.unref()
  }

  /** Starts the handshake on a socket. */
  accept(socket: net.Socket): void {
    this.#server.emit('connection', socket)
  }

  /** Sets the receiver of sockets with a completed handshake. */
  onSecure(receiver: (socket: tls.TLSSocket) => void): void {
    this.#server.on('secureConnection', (socket) => {
      if (hasUnverifiedCertificate(socket, this.#asksForCertificates)) socket.destroy()
      else receiver(socket)
    })
  }

  /** Rereads the certificates if they have changed. */
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

/** Returns true if the client sent an unverifiable certificate. It is refused even where certificates are optional. */
function hasUnverifiedCertificate(socket: tls.TLSSocket, isAskedFor: boolean): boolean {
  return isAskedFor && !socket.authorized && socket.getPeerX509Certificate() !== undefined
}
