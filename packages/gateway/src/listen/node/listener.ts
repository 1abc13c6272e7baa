import type net from 'node:net'
import type tls from 'node:tls'
import type { TLSSocket } from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { type ClientCertificate, certificateFacts, type RequestIds } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import type { TimerWheel } from '../../lib/timer-wheel.js'
import { clientNetwork } from '../client-network.js'
import type { Listener, ListenerSettings, RequestHandler } from '../listener.js'
import { TOO_MANY_CONNECTIONS, TOO_MANY_FROM_CLIENT } from '../overload.js'
import { closeWhenQuiet } from '../quiet-close.js'
import { ClientConnection } from './http1/connection.js'
import { HeadDecoder } from './http1/head-decoder.js'
import type { Http1Host } from './http1/request-reader.js'
import { Http2Sessions } from './http2/sessions.js'
import type { Peer, ProtocolHandler } from './socket/connection-host.js'
import { type ListeningSocket, openListeningSocket } from './socket/listening-socket.js'
import { ProxiedConnection } from './socket/proxied-connection.js'
import type { ProxyHeader } from './socket/proxy-header.js'
import { readByEvents, type SocketReader } from './socket/server-socket.js'
import { TlsServer } from './socket/tls-server.js'

interface NodeListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: ListenerTlsPlan | null
  readonly settings: ListenerSettings
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  /** Returns the current secret of session tickets. If undefined, the listener creates one. */
  readonly ticketSecret?: (() => Uint8Array) | undefined
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void
  /** Called when a connection is rejected because of a limit. */
  readonly onRejected: () => void
  /** Called when renewed certificates are in use. */
  readonly onRenewal?: () => void
  /** True to read sockets only through 'data' events. Default: false. */
  readonly usesDataEvents?: boolean
  /** Interval between checks of the certificate files, in milliseconds. Default: 10 s. */
  readonly watchMs?: number
  /** True if other processes may listen on the same port. Default: true in a worker. */
  readonly isReusable?: boolean
}

/** Creates a listener on the sockets of Node.js. @throws Error if a certificate cannot be read. */
export function createNodeListener(options: NodeListenerOptions): Listener {
  return new NodeListener(options)
}

class NodeListener implements Listener, Http1Host {
  port: number
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  readonly decoder: HeadDecoder
  readonly scheme: 'http' | 'https'
  readonly onFault: (error: unknown) => void
  /** True if the remaining and new connections close after their next response. */
  isClosing = false
  #settings: ListenerSettings
  readonly #http2: Http2Sessions
  readonly #options: NodeListenerOptions
  #socket: ListeningSocket | null = null
  readonly #tls: TlsServer | null
  /** The open sockets, including those in a TLS handshake or handed over. */
  readonly #sockets = new Set<net.Socket>()
  readonly #connections = new Set<ClientConnection>()
  /** Number of open connections by client. */
  readonly #counts = new Map<string, number>()
  /** PROXY headers of connections whose TLS handshake is in progress, by connection key. */
  readonly #proxied = new Map<string, ProxyHeader>()
  /** Number of connections ever opened. */
  #opened = 0
  /** Resolves when the listening socket is closed; null before that was asked for. */
  #stopped: Promise<void> | null = null

  constructor(options: NodeListenerOptions) {
    this.#options = options
    this.port = options.port
    this.#settings = options.settings
    this.handler = options.handler
    this.ids = options.ids
    this.clock = options.clock
    this.wheel = options.wheel
    this.onFault = options.onFault
    this.decoder = new HeadDecoder(options.settings)
    this.scheme = options.tls === null ? 'http' : 'https'
    this.#http2 = new Http2Sessions({ ...options, scheme: this.scheme })
    this.#tls = options.tls === null ? null : this.#openTls(options.tls)
  }

  #openTls(plan: ListenerTlsPlan): TlsServer {
    const { host, port, ticketSecret, watchMs } = this.#options
    return new TlsServer({
      plan,
      address: `${host}:${port}`,
      ticketSecret,
      hasHttp2: () => this.#settings.http2?.alpn === true,
      handshakeMs: this.#settings.headTimeoutMs,
      onFault: this.onFault,
      onRenewal: this.#options.onRenewal ?? (() => {}),
      ...(watchMs === undefined ? {} : { watchMs }),
    })
  }

  async open(replaced: Listener | null = null): Promise<void> {
    const handedOver = replaced instanceof NodeListener ? replaced.#handOver() : null
    const socket = handedOver ?? (await openListeningSocket(this.#options))
    this.#socket = socket
    this.port = socket.port
    this.#tls?.onSecure((secure) => this.#onSecure(secure))
    const usesDataEvents = this.#tls !== null || this.#options.usesDataEvents === true
    socket.accept((accepted) => this.#admit(accepted), { usesDataEvents })
  }

  /** Hands the listening socket over to the listener that replaces this one. */
  #handOver(): ListeningSocket | null {
    const socket = this.#socket
    this.#socket = null
    return socket
  }

  get settings(): ListenerSettings {
    return this.#settings
  }

  set settings(settings: ListenerSettings) {
    this.#settings = settings
    this.decoder.settings = settings
    // Certificates are usually renewed together with a reload.
    this.#tls?.refresh()
    this.#http2.settings = settings
  }

  /** Handler for connections that start with the HTTP/2 preface. */
  get http2(): ProtocolHandler | null {
    return this.#settings.http2?.priorKnowledge === true ? this.#http2 : null
  }

  connections(): number {
    return this.#sockets.size
  }

  announceEnd(): void {
    this.#http2.announceEnd()
  }

  stopListening(): Promise<void> {
    if (this.#socket === null) return Promise.resolve()
    this.#stopped ??= new Promise((resolve) => {
      closeWhenQuiet(
        () => this.#opened,
        () => {
          this.#socket?.close()
          resolve()
        },
      )
    })
    return this.#stopped
  }

  close(): void {
    if (this.isClosing) return
    this.isClosing = true
    this.#http2.close()
    this.#tls?.close()
    void this.stopListening()
  }

  terminate(): void {
    this.isClosing = true
    this.#http2.terminate()
    this.#tls?.close()
    this.#socket?.close()
    for (const connection of this.#connections) connection.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Counts a connection, and serves or rejects it. */
  #admit(socket: net.Socket): SocketReader | null {
    this.#opened++
    const peer = addressOf(socket)
    // The connection was reset before it was accepted, as by health checks of load balancers. There is no client to
    // answer.
    if (peer === '') {
      socket.on('error', () => {}).destroy()
      return null
    }
    const client = clientNetwork(peer)
    this.#sockets.add(socket)
    const count = (this.#counts.get(client) ?? 0) + 1
    this.#counts.set(client, count)
    socket.on('close', () => this.#onClose(socket, client))
    const { connections, connectionsPerClient, trusted } = this.#settings
    if (this.#sockets.size > connections) this.#reject(socket, TOO_MANY_CONNECTIONS)
    else if (count > connectionsPerClient && trusted?.has(peer) !== true)
      this.#reject(socket, TOO_MANY_FROM_CLIENT)
    else if (this.#settings.proxyProtocol && trusted?.has(peer) === true)
      return this.#readProxyHeader(socket, peer)
    else if (this.#tls === null) return this.#serve(socket, { address: peer, port: 0, certificate: null })
    else this.#tls.accept(socket)
    return null
  }

  /** Reads the PROXY header, which names the client. */
  #readProxyHeader(socket: net.Socket, proxy: string): SocketReader {
    return new ProxiedConnection(socket, this.wheel, this.#settings.headTimeoutMs, (header, rest) => {
      const peer = header.address === '' ? proxy : header.address
      if (this.#tls === null)
        return this.#serve(socket, { address: peer, port: header.port, certificate: null })
      const name = connectionKey(socket)
      this.#proxied.set(name, { ...header, address: peer })
      socket.on('close', () => this.#proxied.delete(name))
      socket.removeAllListeners('data')
      socket.pause()
      socket.unshift(rest)
      this.#tls.accept(socket)
      return null
    })
  }

  #serve(socket: net.Socket, peer: Peer): ClientConnection {
    const connection = new ClientConnection(socket, peer, this)
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
    return connection
  }

  /** Closes a connection over a limit before its first request. With TLS, no response can be sent yet. */
  #reject(socket: net.Socket, answer: string): void {
    this.#options.onRejected()
    socket.on('error', () => {})
    if (this.#tls !== null) socket.destroy()
    else {
      socket.write(overloadAnswer(answer), 'latin1')
      socket.destroySoon()
    }
  }

  /** Handles a completed TLS handshake. */
  #onSecure(socket: tls.TLSSocket): void {
    const header = this.#proxied.get(connectionKey(socket))
    const { proxyProtocol, trusted } = this.#settings
    // The connection has closed, or its PROXY header is missing: it must not pass as the proxy itself.
    if (header === undefined && proxyProtocol && trusted?.has(addressOf(socket)) === true) {
      socket.destroy()
      return
    }
    const peer = {
      address: header?.address ?? addressOf(socket),
      port: header?.port ?? 0,
      certificate: this.#options.tls?.clientCaFile == null ? null : clientCertificateOf(socket),
    }
    const isHttp2 = socket.alpnProtocol === 'h2'
    readByEvents(socket, isHttp2 ? this.#http2.accept(socket, peer, NO_BYTES) : this.#serve(socket, peer))
  }

  #onClose(socket: net.Socket, client: string): void {
    this.#sockets.delete(socket)
    const left = this.#counts.get(client)! - 1
    if (left > 0) this.#counts.set(client, left)
    else this.#counts.delete(client)
  }
}

const NO_BYTES = Buffer.alloc(0)

/** Returns a key that is unique among all open connections, and the same before and after TLS. */
function connectionKey({ localAddress, remoteAddress, remotePort }: net.Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}

/**
 * Returns the peer address. IPv4-mapped addresses of dual-stack sockets become IPv4; the zone, a local interface, is
 * cut.
 */
function addressOf(socket: net.Socket): string {
  const address = socket.remoteAddress ?? ''
  if (address.startsWith('::ffff:')) return address.slice(7)
  const zone = address.indexOf('%')
  return zone < 0 ? address : address.slice(0, zone)
}

function overloadAnswer(body: string): string {
  const fields = 'content-type: application/problem+json\r\nretry-after: 1\r\nconnection: close'
  return `HTTP/1.1 503 Service Unavailable\r\n${fields}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Returns the client's verified certificate, or null if it has sent none. Also works for resumed sessions. */
function clientCertificateOf(socket: TLSSocket): ClientCertificate | null {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  return certificate === undefined ? null : certificateFacts(certificate)
}
