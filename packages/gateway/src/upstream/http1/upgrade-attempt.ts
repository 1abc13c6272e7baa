import type net from 'node:net'
import { HeadCache } from '../../protocol/http1/head-cache.js'
import { MORE, TOO_LARGE } from '../../protocol/http1/message-head.js'
import { type Agreement, agree } from '../../protocol/websocket/handshake.js'
import { SocketEnd } from '../../protocol/websocket/socket-end.js'
import type { Connector } from '../transport/connector.js'
import { FAILURES, failureOf, MAX_INFORMATIONAL } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import { ReceivedHead } from '../transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import { formatUpgradeHead } from './request-head.js'
import { ResponseHead } from './response-head.js'
import { type ResponseEvents, ResponseReader } from './response-reader.js'
import { WireAttempt } from './wire-attempt.js'

/** Receiver of the events of an upgrade attempt. */
export interface UpgradeObserver extends AttemptObserver {
  /**
   * Called when the target has switched protocols. The attempt owns the connection until `take`. Nothing else is
   * reported afterwards.
   */
  onSwitched(head: ReceivedHead, attempt: UpgradeAttempt): void
}

/** Sends WebSocket upgrade requests to a target, each over a new connection. Never throws. */
export class UpgradeTransport {
  readonly #connect: Connector
  readonly #maxHeaderBytes: number

  constructor(connect: Connector, maxHeaderBytes: number) {
    this.#connect = connect
    this.#maxHeaderBytes = maxHeaderBytes
  }

  dispatch(request: UpstreamRequest, observer: UpgradeObserver): Attempt {
    const head = formatUpgradeHead(request)
    const attempt = new UpgradeAttempt(request, observer, head ?? '', this.#maxHeaderBytes)
    if (head === null) attempt.fail(FAILURES.request)
    else attempt.open(this.#connect)
    return attempt
  }
}

const NOTHING = Buffer.alloc(0)
const NOT_AGREED: Failure = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the response to the WebSocket handshake violates RFC 6455',
  phase: 'exchange',
}

/**
 * An upgrade request:
 *
 *     connecting ─► asked ─┬─► 101 ─► switched ─► taken         the connection goes to the relay
 *                          └─► an ordinary response ─► over     read and reported as of any other attempt
 */
export class UpgradeAttempt extends WireAttempt implements ResponseEvents {
  agreement: Agreement = { isCompressible: false }
  readonly #upgrade: UpgradeObserver
  readonly #maxHeaderBytes: number
  readonly #first: ResponseHead
  #socket: net.Socket | null = null
  /** Parser for an ordinary response; null until there is one. */
  #reader: ResponseReader | null = null
  /** Bytes not processed yet: the head so far, data after a 101, or body bytes while paused. */
  #held: Buffer = NOTHING
  #informational = 0
  #isSwitched = false
  #isReading = false

  constructor(request: UpstreamRequest, observer: UpgradeObserver, head: string, maxHeaderBytes: number) {
    super(request, observer, { head, isFresh: true, owner: { onAbandoned() {} } })
    this.#upgrade = observer
    this.#maxHeaderBytes = maxHeaderBytes
    this.#first = new ResponseHead(maxHeaderBytes)
    this.#first.begin()
  }

  open(connect: Connector): void {
    const opening = connect(this.request.connectMs, (...[error, socket]) => {
      if (this.isOver) socket?.destroy()
      else if (error !== null) this.fail(failureOf(error))
      else this.#ask(socket!, opening)
    })
  }

  #ask(socket: net.Socket, opening: Opening): void {
    this.#socket = socket
    socket.on('data', this.#onData)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
    this.observer.onStarted(opening)
    if (!this.isOver) socket.write(this.head, 'latin1')
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.isOver) return
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    if (this.#isSwitched) this.#socket!.pause()
    else if (this.#reader !== null) this.#read()
    else this.#readHead(this.#held.length - bytes.length)
  }

  readonly #onError = (error: Error): void => this.fail(failureOf(error))

  readonly #onClose = (): void => {
    if (this.#reader?.endsWithConnection === true && this.#held.length === 0) this.end(null)
    else this.fail(FAILURES.reset)
  }

  /** @param from position after the bytes already parsed. */
  #readHead(from: number): void {
    const bytes = this.#held
    const end = this.#first.read(bytes, from, bytes.length)
    if (end === MORE) return
    if (end < 0) {
      this.fail(end === TOO_LARGE ? FAILURES.overflow : FAILURES.invalid)
      return
    }
    const { status } = this.#first
    if (status === 101) this.#switch(this.#first.takeFields(), bytes.subarray(end))
    else if (status > 101 && status < 200) this.#skip(bytes.subarray(end))
    else this.#beginResponse()
  }

  /** Skips a 1xx response. Another head follows. */
  #skip(rest: Buffer): void {
    if (++this.#informational > MAX_INFORMATIONAL) {
      this.fail(FAILURES.tooManyInformational)
      return
    }
    this.#first.begin()
    this.#held = rest
    if (rest.length > 0) this.#readHead(0)
  }

  #beginResponse(): void {
    const options = { maxHeaderBytes: this.#maxHeaderBytes, headCache: new HeadCache<never>(1) }
    this.#reader = new ResponseReader(this, options)
    this.#reader.begin(this.request.method)
    this.#read()
  }

  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    const bytes = this.#held
    this.#held = NOTHING
    const at = this.#reader!.read(bytes, 0, bytes.length, this)
    this.#isReading = false
    if (this.isOver || at === bytes.length) return
    this.#held = Buffer.from(bytes.subarray(at))
    if (this.isPaused) this.#socket!.pause()
    else this.#read()
  }

  override pause(): void {
    super.pause()
    this.#socket?.pause()
  }

  override resume(): void {
    super.resume()
    if (this.isOver || this.#isSwitched) return
    if (this.#reader !== null && this.#held.length > 0) this.#read()
    if (!this.isPaused) this.#socket?.resume()
  }

  override abort(): void {
    super.abort()
    this.#socket?.destroy()
  }

  // Events of the response reader.

  onKeepAlive(): void {}

  onComplete(_isKept: boolean, _isLast: boolean, trailers: readonly string[] | null): void {
    this.end(trailers)
  }

  onFailure(failure: Failure): void {
    this.fail(failure)
  }

  override end(trailers: readonly string[] | null): void {
    if (this.isOver) return
    this.#socket?.destroy()
    super.end(trailers)
  }

  override fail(failure: Failure): void {
    if (this.isOver) return
    this.#socket?.destroy()
    super.fail(failure)
  }

  // Upgrade.

  #switch(fields: readonly string[], rest: Buffer): void {
    const agreement = agree(this.request.headers, fields)
    if (agreement === null) {
      this.fail(NOT_AGREED)
      return
    }
    this.agreement = agreement
    this.#isSwitched = true
    this.#held = rest
    this.#socket!.pause()
    this.#upgrade.onSwitched(new ReceivedHead(101, fields), this)
  }

  /** Hands over the connection. Returns null if it is gone. */
  take(): SocketEnd | null {
    const socket = this.#socket
    if (this.isOver || socket === null || socket.destroyed) return null
    this.isOver = true
    socket.off('data', this.#onData)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    if (this.#held.length > 0) socket.unshift(this.#held)
    const end = new SocketEnd(socket)
    socket.on('data', (bytes: Buffer) => end.onBytes(bytes, bytes.length))
    socket.pause()
    return end
  }
}
