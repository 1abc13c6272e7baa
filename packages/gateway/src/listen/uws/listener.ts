/// <reference path="./uws.d.ts" />
import './native-file.js'
import {
  _cfg,
  App,
  type AppOptions,
  type HttpRequest,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
} from 'uWebSockets.js'
import { readFileSync } from 'node:fs'
import type { KeyPairPlan, ListenerTlsPlan, NamedCertificatePlan } from '@sluice/config'
import { certificateNames } from '@sluice/config/serving'
import type { ReceivedExchange, RequestIds } from '@sluice/core'
import { Exchange, type Reply, readTlsFiles } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import { expectsBody } from '../../upstream/http1/request-head.js'
import { applyClientAddress } from '../client-address.js'
import type { Listener, ListenerSettings, RequestHandler } from '../listener.js'
import { TOO_MANY_CONNECTIONS, TOO_MANY_FROM_CLIENT } from '../overload.js'
import { closeWhenQuiet } from '../quiet-close.js'
import { ASCII_FIELDS, RequestHead, refuseLargeHead } from '../request-head.js'
import { applyTarget } from '../request-target.js'
import { TLS_CIPHERS } from '../tls-ciphers.js'
import { UwsClientStream } from './client-stream.js'
import { CorkWorkaround } from './cork-workaround.js'
import { enterParser, leaveParser } from './parser-turn.js'
import { Peers } from './peers.js'
import { StalledStreams } from './stalled-streams.js'
import { UwsUpgradeStream } from './upgrade-stream.js'
import { webSocketBehavior } from './websocket-behavior.js'

/** Bytes of the head besides method, path, query and fields: two spaces, `HTTP/1.1` and two line ends. */
const LINE_BYTES = 14

/** Methods with their own uWS route, matched in upper case only. Asking uWS for a method creates a string each time. */
const METHODS = [
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['del', 'DELETE'],
  ['patch', 'PATCH'],
  ['head', 'HEAD'],
  ['options', 'OPTIONS'],
] as const

// uWS adds its name to every response unless configured not to.
_cfg('silent')

interface UwsListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: Pick<ListenerTlsPlan, 'certFile' | 'keyFile' | 'certificates'> | null
  readonly settings: ListenerSettings
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void
  /** Called when a connection is rejected because of a limit. */
  readonly onRejected: () => void
}

/**
 * Creates a listener on uWebSockets.js. Every worker opens one with SO_REUSEPORT, and the kernel distributes the
 * connections.
 * @throws Error if the certificate cannot be read.
 */
export function createUwsListener(options: UwsListenerOptions): Listener {
  return new UwsListener(options)
}

type ListenSocket = Parameters<typeof us_listen_socket_close>[0]

class UwsListener implements Listener {
  port: number
  settings: ListenerSettings
  readonly #options: UwsListenerOptions
  readonly #handler: RequestHandler
  readonly #ids: RequestIds
  readonly #clock: CachedClock
  readonly #app: TemplatedApp
  readonly #head = new RequestHead(ASCII_FIELDS)
  readonly #stalled = new StalledStreams()
  readonly #peers = new Peers()
  readonly #corkWorkaround = new CorkWorkaround()
  readonly #scheme: 'http' | 'https'
  readonly #addLine = (name: string, value: string): void => this.#head.add(name, value)
  readonly #countConnection = (res: HttpResponse, change: number): void => {
    if (change < 0) {
      this.#peers.remove(this.#rejectedAddress)
      return
    }
    const address = this.#peers.add(res)
    this.#opened++
    if (this.#peers.open > this.settings.connections) this.#reject(res, address, TOO_MANY_CONNECTIONS)
    else if (this.#exceedsClientLimit(address)) this.#reject(res, address, TOO_MANY_FROM_CLIENT)
  }
  /** Listening socket, or null once closed. */
  #socket: ListenSocket | null = null
  /** True if the remaining and new connections close after their next response. */
  #isClosing = false
  /** Number of connections ever opened. */
  #opened = 0
  /** Resolves when the listening socket is closed; null before that was asked for. */
  #stopped: Promise<void> | null = null
  /** Address of the connection that is being rejected right now, or empty. */
  #rejectedAddress = ''

  constructor(options: UwsListenerOptions) {
    this.#options = options
    this.port = options.port
    this.settings = options.settings
    this.#handler = options.handler
    this.#ids = options.ids
    this.#clock = options.clock
    this.#scheme = options.tls === null ? 'http' : 'https'
    this.#app = createApp(options.tls)
    this.#app.filter(this.#countConnection)
    this.#register()
    for (const certificate of options.tls?.certificates ?? []) this.#addCertificate(certificate)
  }

  #register(): void {
    this.#app.ws(
      '/*',
      webSocketBehavior(
        (res, req, context) => this.#onRequest(res, req, 'GET', context),
        () => this.#peers.remove(''),
      ),
    )
    for (const [register, method] of METHODS)
      this.#app[register]('/*', (res, req) => this.#onRequest(res, req, method))
    this.#app.any('/*', (res, req) => this.#onRequest(res, req, req.getCaseSensitiveMethod()))
  }

  /** Adds a certificate. uWS has separate handlers for each server name. */
  #addCertificate(certificate: NamedCertificatePlan): void {
    for (const name of certificateNames(certificate.serverNames, () => readFileSync(certificate.certFile))) {
      this.#app.addServerName(name, keyPairOptions(certificate)).domain(name)
      this.#register()
    }
  }

  open(): Promise<void> {
    const { host, port } = this.#options
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}; is another process using the address?`))
          return
        }
        this.#socket = socket
        this.port = us_socket_local_port(socket)
        resolve()
      })
    })
  }

  connections(): number {
    return this.#peers.open
  }

  announceEnd(): void {}

  stopListening(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => {
      closeWhenQuiet(
        () => this.#opened,
        () => {
          if (this.#socket !== null) us_listen_socket_close(this.#socket)
          this.#socket = null
          resolve()
        },
      )
    })
    return this.#stopped
  }

  close(): void {
    this.#isClosing = true
    void this.stopListening()
  }

  terminate(): void {
    this.#isClosing = true
    this.#socket = null
    this.#app.close()
    this.#corkWorkaround.close()
  }

  /**
   * Handles a request from uWS. No exception may pass, because uWS would end the process; it ends only this connection.
   */
  #onRequest(
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    context: us_socket_context_t | null = null,
  ): void {
    enterParser()
    try {
      this.#handleRequest(res, req, method, context)
    } catch (error) {
      this.#options.onFault(error)
      res.close()
    } finally {
      leaveParser()
      this.#clock.drop()
    }
  }

  #handleRequest(
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    context: us_socket_context_t | null,
  ): void {
    const x = this.#exchange(res, method)
    const head = this.#head
    head.begin()
    req.forEach(this.#addLine)
    const path = req.getUrl()
    // Undefined without "?".
    const query = (req.getQuery() as string | undefined) ?? null
    const queryBytes = query === null ? 0 : query.length + 1
    x.requestHeadBytes = head.bytes + x.method.length + path.length + queryBytes + LINE_BYTES
    const refused = this.#check(x, path, query)
    const hasBody = refused !== null || x.contentLength !== 0
    if (head.asksForWebSocket) this.#corkWorkaround.open()
    const client = head.asksForWebSocket
      ? new UwsUpgradeStream(res, hasBody, this.#stalled, { context, corkWorkaround: this.#corkWorkaround })
      : new UwsClientStream(res, hasBody, head.looksClosing, this.#stalled)
    // Bytes after a chunked body cannot be trusted, because uWS does not check its end strictly. The same applies to a
    // POST without a length: uWS hides the fields after an empty name, and Content-Length may be among them.
    const isEndSure = x.contentLength >= 0 && (head.isFramed || !expectsBody(x.method))
    client.isFinal = refused !== null || !isEndSure || head.asksForWebSocket
    client.closeAfter = client.isFinal || head.wantsClose || this.#isClosing
    this.#pass(x, client, refused)
  }

  /** Fills the exchange. It is filled even if the request is refused, so that the log record is complete. */
  #check(x: ReceivedExchange, path: string, query: string | null): Reply | null {
    const badHead = this.#head.apply(x, this.settings)
    const badTarget = applyTarget(x, path, query, this.settings)
    const badHop = applyClientAddress(x, this.settings)
    return badHead ?? badTarget ?? refuseLargeHead(x, this.settings) ?? badHop
  }

  /**
   * Closes a connection over a limit before its first request, so that others are still served. With TLS, no response
   * can be sent yet, because the handshake comes later.
   */
  #reject(res: HttpResponse, address: string, answer: string): void {
    this.#options.onRejected()
    this.#rejectedAddress = address
    if (this.#scheme === 'https') res.close()
    else res.cork(() => answerOverload(res, answer))
    this.#rejectedAddress = ''
  }

  /**
   * Returns true if the client has too many connections. Trusted proxies are exempt, because they stand for many
   * clients.
   */
  #exceedsClientLimit(address: string): boolean {
    const { connectionsPerClient, trusted } = this.settings
    if (trusted?.has(address) === true) return false
    return this.#peers.hasMoreThan(connectionsPerClient, address, this.port)
  }

  #exchange(res: HttpResponse, method: string): ReceivedExchange {
    const x: ReceivedExchange = new Exchange()
    x.startedAt = Date.now()
    x.startedMono = this.#clock.read()
    x.method = method
    x.scheme = this.#scheme
    x.peer = this.#peers.of(res)
    x.bodyLimit = this.settings.bodyBytes
    x.pace = this.settings
    return x
  }

  #pass(x: ReceivedExchange, client: UwsClientStream, refused: Reply | null): void {
    if (x.id === '') x.id = this.#ids.next(x.startedAt)
    client.requestId = x.id
    if (refused !== null) this.#handler.refuse(x, client, refused)
    else this.#handler.accept(x, client, this.settings)
  }
}

function answerOverload(res: HttpResponse, body: string): void {
  res.writeStatus('503 Service Unavailable')
  res.writeHeader('content-type', 'application/problem+json')
  res.writeHeader('retry-after', '1')
  res.end(body, true)
}

function createApp(tls: UwsListenerOptions['tls']): TemplatedApp {
  if (tls === null) return App()
  return SSLApp(keyPairOptions(tls))
}

function keyPairOptions({ certFile, keyFile }: KeyPairPlan): AppOptions {
  // uWebSockets.js does not report why it cannot use a file.
  readTlsFiles({ certFile, keyFile })
  return { cert_file_name: certFile, key_file_name: keyFile, ssl_ciphers: TLS_CIPHERS }
}
