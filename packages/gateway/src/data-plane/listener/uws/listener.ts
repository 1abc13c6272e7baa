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
import type { RequestIds } from '@sluice/core'
import { Exchange, type Reply } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import { expectsBody } from '../../upstream/http1/request-head.js'
import { applyClientAddress } from '../client-address.js'
import type { Gate, Listener, ListenerSettings } from '../listener.js'
import { CROWDED, GREEDY } from '../overload.js'
import { ASCII_FIELDS, RequestHead, refuseLargeHead } from '../request-head.js'
import { applyTarget } from '../request-target.js'
import { TLS_CIPHERS } from '../tls-ciphers.js'
import { UwsClientStream } from './client-stream.js'
import { OtherCork } from './other-cork.js'
import { enterParser, leaveParser } from './parser-turn.js'
import { Peers } from './peers.js'
import { StalledStreams } from './stalled-streams.js'
import { UwsUpgradeStream } from './upgrade-stream.js'
import { webSocketBehavior } from './websocket-behavior.js'

/** Of a request head beside method, path, query and field lines: two spaces, `HTTP/1.1`, two line ends. */
const LINE_BYTES = 14

/** Methods that uWS recognises, in upper case only, on its way here; asking it for a method makes a text each time. */
const METHODS = [
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['del', 'DELETE'],
  ['patch', 'PATCH'],
  ['head', 'HEAD'],
  ['options', 'OPTIONS'],
] as const

// uWS announces itself in every response unless configured not to.
_cfg('silent')

export interface UwsListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: Pick<ListenerTlsPlan, 'certFile' | 'keyFile' | 'certificates'> | null
  readonly settings: ListenerSettings
  readonly gate: Gate
  readonly ids: RequestIds
  readonly clock: CachedClock
  /** Hears of an error that should not have come this far. */
  readonly onFault: (error: unknown) => void
  /** Hears of a connection over the limit. */
  readonly onTurnedAway: () => void
  /**
   * What the kernel holds of a connection is bounded, of those that come a moment after the listener has opened. It takes
   * a process of its own, some 50 ms of CPU time.
   */
}

/**
 * Opens a listener on uWebSockets.js. Every worker opens its own with SO_REUSEPORT; the kernel spreads connections.
 * @throws Error when the address cannot be bound or the certificate cannot be read.
 */
export function openUwsListener(options: UwsListenerOptions): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const listener = new UwsListener(options)
    listener.open(resolve, reject)
  })
}

/** A listener that is connected to without a pause closes after so many turns all the same. */
const MAX_CLOSING_TURNS = 100
/** No number of connections. */
const NEVER = -1

type ListenSocket = Parameters<typeof us_listen_socket_close>[0]

class UwsListener implements Listener {
  port: number
  settings: ListenerSettings
  readonly #options: UwsListenerOptions
  readonly #gate: Gate
  readonly #ids: RequestIds
  readonly #clock: CachedClock
  readonly #app: TemplatedApp
  readonly #head = new RequestHead(ASCII_FIELDS)
  readonly #stalled = new StalledStreams()
  readonly #peers = new Peers()
  readonly #otherCork = new OtherCork()
  readonly #scheme: 'http' | 'https'
  readonly #addLine = (name: string, value: string): void => this.#head.add(name, value)
  readonly #countConnection = (res: HttpResponse, change: number): void => {
    if (change < 0) {
      this.#peers.remove(this.#turnedAway)
      return
    }
    const address = this.#peers.add(res)
    this.#opened++
    if (this.#peers.open > this.settings.connections) this.#turnAway(res, address, CROWDED)
    else if (this.#isGreedy(address)) this.#turnAway(res, address, GREEDY)
  }
  /** Null once closed. */
  #socket: ListenSocket | null = null
  /** The connections that are left, or still come, end with their next answer. */
  #isClosing = false
  /** Connections that were ever opened. */
  #opened = 0
  /** The address whose connection is being closed right now, because there are too many. */
  #turnedAway = ''

  constructor(options: UwsListenerOptions) {
    this.#options = options
    this.port = options.port
    this.settings = options.settings
    this.#gate = options.gate
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
    for (const [register, method] of METHODS) {
      this.#app[register]('/*', (res, req) => this.#onRequest(res, req, method))
    }
    this.#app.any('/*', (res, req) => this.#onRequest(res, req, req.getCaseSensitiveMethod()))
  }

  /** uWS has handlers of their own for the requests to each server name. */
  #addCertificate(certificate: NamedCertificatePlan): void {
    for (const name of certificateNames(certificate.serverNames, () => readFileSync(certificate.certFile))) {
      this.#app.addServerName(name, keyPairOptions(certificate)).domain(name)
      this.#register()
    }
  }

  open(resolve: (listener: Listener) => void, reject: (error: Error) => void): void {
    const { host, port } = this.#options
    this.#app.listen(host, port, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}; is another process using the address?`))
        return
      }
      this.#socket = socket
      this.port = us_socket_local_port(socket)
      resolve(this)
    })
  }

  connections(): number {
    return this.#peers.open
  }

  announceEnd(): void {}

  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    // What is left of this turn has heard of those only that came before it.
    this.#closeSocket(NEVER, MAX_CLOSING_TURNS)
  }

  /**
   * The system resets the connections that wait to be accepted when the socket closes (docs/internals/adr/0003): so it closes behind
   * a turn of the event loop in which there was none, or the last of so many turns.
   */
  #closeSocket(opened: number, turns: number): void {
    setImmediate(() => {
      if (this.#socket === null) return
      if (this.#opened !== opened && turns > 0) {
        this.#closeSocket(this.#opened, turns - 1)
        return
      }
      us_listen_socket_close(this.#socket)
      this.#socket = null
    })
  }

  terminate(): void {
    this.#isClosing = true
    this.#socket = null
    this.#app.close()
    this.#otherCork.close()
  }

  /** Nothing may be thrown through here: uWS ends the process. What fails all the same costs its connection only. */
  #onRequest(
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    context: us_socket_context_t | null = null,
  ): void {
    enterParser()
    try {
      this.#takeIn(res, req, method, context)
    } catch (error) {
      this.#options.onFault(error)
      res.close()
    } finally {
      leaveParser()
      this.#clock.drop()
    }
  }

  #takeIn(res: HttpResponse, req: HttpRequest, method: string, context: us_socket_context_t | null): void {
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
    if (head.asksForWebSocket) this.#otherCork.open()
    const client = head.asksForWebSocket
      ? new UwsUpgradeStream(res, hasBody, this.#stalled, { context, otherCork: this.#otherCork })
      : new UwsClientStream(res, hasBody, head.looksClosing, this.#stalled)
    // What stands behind a chunked body cannot be trusted: its end is not checked strictly enough. Nor what stands behind a
    // POST without a length: uWS hides the fields behind an empty name, and the length may be among them.
    const isEndSure = x.contentLength >= 0 && (head.isFramed || !expectsBody(x.method))
    client.isFinal = refused !== null || !isEndSure || head.asksForWebSocket
    client.closeAfter = client.isFinal || head.wantsClose || this.#isClosing
    this.#pass(x, client, refused)
  }

  /** Fills the exchange, all of it also where something is refused: its record says what is known. */
  #check(x: Exchange, path: string, query: string | null): Reply | null {
    const badHead = this.#head.apply(x, this.settings)
    const badTarget = applyTarget(x, path, query, this.settings)
    const badHop = applyClientAddress(x, this.settings)
    return badHead ?? badTarget ?? refuseLargeHead(x, this.settings) ?? badHop
  }

  /**
   * Ends a connection over the limit before its first request: idle connections count like busy ones, and those within
   * the limit go on being served. With TLS there is nothing to answer on yet, because the handshake comes later.
   */
  #turnAway(res: HttpResponse, address: string, answer: string): void {
    this.#options.onTurnedAway()
    this.#turnedAway = address
    if (this.#scheme === 'https') res.close()
    else res.cork(() => answerOverload(res, answer))
    this.#turnedAway = ''
  }

  /** A trusted proxy stands for many clients. */
  #isGreedy(address: string): boolean {
    const { connectionsPerClient, trusted } = this.settings
    if (trusted?.has(address) === true) return false
    return this.#peers.hasMoreThan(connectionsPerClient, address, this.port)
  }

  #exchange(res: HttpResponse, method: string): Exchange {
    const x = new Exchange()
    x.startedAt = Date.now()
    x.startedMono = this.#clock.read()
    x.method = method
    x.scheme = this.#scheme
    x.peer = this.#peers.of(res)
    x.bodyLimit = this.settings.bodyBytes
    x.pace = this.settings
    return x
  }

  #pass(x: Exchange, client: UwsClientStream, refused: Reply | null): void {
    if (x.id === '') x.id = this.#ids.next(x.startedAt)
    client.requestId = x.id
    if (refused !== null) this.#gate.refuse(x, client, refused)
    else this.#gate.accept(x, client, this.settings)
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
  return { cert_file_name: certFile, key_file_name: keyFile, ssl_ciphers: TLS_CIPHERS }
}
