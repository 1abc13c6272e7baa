import { hkdfSync, randomBytes } from 'node:crypto'
import type net from 'node:net'
import tls from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { Certificates } from './certificates.js'

/** Interval between checks of the certificate files, in milliseconds. */
const WATCH_MS = 10_000

interface TlsServerOptions {
  readonly plan: ListenerTlsPlan
  /** Address of the listener. Other listeners do not resume its sessions. */
  readonly address: string
  /** Returns the current secret of session tickets. If undefined, the server creates one. */
  readonly ticketSecret: (() => Uint8Array) | undefined
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
  readonly #options: TlsServerOptions
  readonly #ticketSecret: () => Uint8Array
  #server: tls.Server
  /** Secret of the ticket keys in use. */
  #usedSecret: Uint8Array | null = null
  #hasHttp2: boolean
  #onSecure: (socket: tls.TLSSocket) => void = () => {}
  readonly #onFault: (error: unknown) => void
  readonly #onRenewal: () => void
  readonly #watch: NodeJS.Timeout
  readonly #asksForCertificates: boolean

  /** @throws Error if a certificate cannot be read. */
  constructor(options: TlsServerOptions) {
    const { plan, onFault, onRenewal, watchMs = WATCH_MS } = options
    const ownSecret = randomBytes(32)
    this.#ticketSecret = options.ticketSecret ?? (() => ownSecret)
    this.#certificates = new Certificates(plan)
    this.#options = options
    this.#asksForCertificates = plan.clientCaFile !== null
    this.#onFault = onFault
    this.#onRenewal = onRenewal
    this.#hasHttp2 = options.hasHttp2()
    this.#server = this.#createServer()
    this.#watch = setInterval(() => this.refresh(), watchMs)
    this.#watch.unref()
  }

  /** Creates a server without callbacks into JavaScript during a handshake, unless certificates depend on the name. */
  #createServer(): tls.Server {
    const { plan, handshakeMs } = this.#options
    const certificates = this.#certificates
    const findByName: tls.TlsOptions['SNICallback'] = (name, done) => done(null, certificates.find(name))
    const server = tls.createServer({
      ...certificates.own,
      ...(plan.certificates.length === 0 ? {} : { SNICallback: findByName }),
      requestCert: plan.clientCaFile !== null,
      rejectUnauthorized: plan.clientCaFile !== null && plan.clientCertificate !== 'optional',
      ALPNProtocols: this.#hasHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      handshakeTimeout: handshakeMs,
      ticketKeys: this.#ticketKeys(),
    })
    // Node.js calls JavaScript in every handshake if there is such a listener.
    if (certificates.hasStaples)
      server.on('OCSPRequest', (certificate, _issuer, done) => done(null, certificates.stapleOf(certificate)))
    // After a failed handshake there is no request to answer.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    server.on('secureConnection', (socket) => {
      if (hasUnverifiedCertificate(socket, this.#asksForCertificates)) socket.destroy()
      else this.#onSecure(socket)
    })
    return server
  }

  /**
   * Returns the keys of session tickets. All workers derive the same keys. Another listener, or one with other
   * certificates or client CAs, has different keys: on a resumed TLS 1.3 session without a client certificate,
   * Node.js reports the client as authorized.
   */
  #ticketKeys(): Buffer {
    this.#usedSecret = this.#ticketSecret()
    const context = `session tickets of ${this.#options.address}, ${this.#certificates.digest}`
    return Buffer.from(hkdfSync('sha256', this.#usedSecret, '', context, 48))
  }

  /** Starts the handshake on a socket. */
  accept(socket: net.Socket): void {
    this.#server.emit('connection', socket)
  }

  /** Sets the receiver of sockets with a completed handshake. */
  onSecure(receiver: (socket: tls.TLSSocket) => void): void {
    this.#onSecure = receiver
  }

  /** Applies changes to certificate files, the secret of session tickets and the support of HTTP/2. */
  refresh(): void {
    if (this.#ticketSecret() !== this.#usedSecret) this.#server.setTicketKeys(this.#ticketKeys())
    try {
      const isRenewed = this.#certificates.refresh()
      const hasHttp2 = this.#options.hasHttp2()
      if (!isRenewed && hasHttp2 === this.#hasHttp2) return
      this.#hasHttp2 = hasHttp2
      this.#server = this.#createServer()
      if (isRenewed) this.#onRenewal()
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
