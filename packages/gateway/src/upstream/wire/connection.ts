import net from 'node:net'
import { ConnectTimeoutError } from '../connector.js'
import { FAILURES, failureOf } from '../failure.js'
import { Opening } from '../opening.js'
import type { Failure } from '../transport.js'
import type { KnownLines } from './known-lines.js'
import { expectsBody } from './request-head.js'
import type { Latin1Buffer } from './response-head.js'
import { type ResponseEvents, ResponseReader } from './response-reader.js'
import type { WireAttempt } from './wire-attempt.js'
import { UPLOAD_HIGH_WATER_BYTES, type UploadSink } from './wire-upload.js'

export interface ConnectionOptions {
  readonly host: string
  readonly port: number
  /** For the name and the TCP handshake together. */
  readonly timeoutMs: number
  readonly lookup: net.LookupFunction
  readonly maxHeaderBytes: number
  /** It is renewed after this time, so that a changed name is followed. */
  readonly maxConnectionAgeMs: number
  /** What is remembered of the target's response heads. */
  readonly known: KnownLines
}

/** The pool, as its connections see it. */
export interface ConnectionOwner {
  /** It is connected, or its response is complete: it can be given to an attempt. */
  onFree(connection: Connection): void
  /** It is gone. An attempt that it still holds was not begun. */
  onClosed(connection: Connection): void
}

/**
 * All reads of all connections go here: what is read is used up before the next read begins, or copied by whom it has
 * to wait for. A buffer for each connection would cost more memory than everything else that belongs to it.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** A body up to this size goes out in one text with the head, a longer one as a second buffer of the same write. */
const MAX_JOINED_BYTES = 8 * 1024

/** Connections that were opened together are renewed over this last part of their time, not in one moment. */
const AGE_SPREAD = 0.1

/** One HTTP/1.1 connection to a target; it serves one attempt at a time. */
export class Connection implements UploadSink, ResponseEvents {
  /** Null while it is idle. */
  attempt: WireAttempt | null = null
  isConnecting = true
  isClosed = false
  /** It waits among the departures. */
  isDue = false
  /** It is to be closed behind its response. */
  isOld = false
  /** Monotonic clock; when it gets old. */
  renewAt = Number.POSITIVE_INFINITY
  /** The round of the pool's clock in which it became idle. */
  idleSince = 0
  /** What the target said last of how long it keeps the connection; empty: nothing. */
  keepAlive = ''
  /** Requests begun on it. */
  #requests = 0
  readonly #opening = new Opening()
  readonly #owner: ConnectionOwner
  readonly #socket: net.Socket
  readonly #reader: ResponseReader
  readonly #timer: NodeJS.Timeout
  readonly #maxAgeMs: number
  #isReading = false
  /** Bytes that were read while the attempt was paused. */
  #held: Buffer | null = null

  constructor(options: ConnectionOptions, owner: ConnectionOwner) {
    this.#owner = owner
    this.#maxAgeMs = options.maxConnectionAgeMs
    this.#reader = new ResponseReader(this, options.maxHeaderBytes, options.known)
    const socket = net.connect({
      host: options.host,
      port: options.port,
      lookup: options.lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      writableHighWaterMark: UPLOAD_HIGH_WATER_BYTES,
      onread: { buffer: READ_BUFFER, callback: (length) => this.#onRead(length) },
    } as net.NetConnectOpts)
    this.#socket = socket
    this.#opening.watch(socket)
    this.#timer = setTimeout(() => this.#fail(failureOf(new ConnectTimeoutError())), options.timeoutMs)
    socket.on('connect', () => this.#onConnect())
    socket.on('drain', () => this.attempt?.upload?.flush())
    socket.on('end', () => this.#onEnd())
    socket.on('error', (error) => this.#fail(failureOf(error)))
    socket.on('close', () => this.#fail(FAILURES.reset))
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  /** It has served before, so the target may be about to close it. */
  get isUsed(): boolean {
    return this.#requests > 0
  }

  /** Writes the request of the attempt that was given to it. */
  begin(): void {
    const attempt = this.attempt!
    const { request } = attempt
    attempt.hasBegun = true
    this.#reader.begin(request.method)
    attempt.observer.onStarted(this.#requests++ > 0 ? null : this.#opening)
    if (this.isClosed || this.attempt !== attempt) return
    this.#writeHead(attempt.head, request.body)
    if (request.upload !== null) attempt.upload!.attach(this)
    if (attempt.isPaused) this.#socket.pause()
  }

  #writeHead(head: string, body: Buffer | null): void {
    if (body === null || body.length === 0) this.#socket.write(head, 'latin1')
    else if (body.length <= MAX_JOINED_BYTES) {
      this.#socket.write(head + (body as Latin1Buffer).latin1Slice(0, body.length), 'latin1')
    } else {
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
    }
  }

  write(bytes: Buffer): boolean {
    return this.#socket.write(bytes)
  }

  onUploadBroken(): void {
    this.#fail(FAILURES.request)
  }

  pause(): void {
    if (!this.#isReading && !this.isClosed) this.#socket.pause()
  }

  resume(): void {
    if (this.#isReading || this.isClosed) return
    const held = this.#held
    this.#held = null
    if (held !== null) this.#take(held, 0, held.length)
    if (!this.#isPaused && !this.isClosed) this.#socket.resume()
  }

  /** Closes without telling the attempt. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#held = null
    clearTimeout(this.#timer)
    if (this.attempt?.hasBegun === true) this.attempt = null
    this.#socket.destroy()
    this.#owner.onClosed(this)
  }

  get #isPaused(): boolean {
    return this.attempt?.isPaused === true && this.attempt.hasBegun
  }

  #onConnect(): void {
    clearTimeout(this.#timer)
    this.isConnecting = false
    if (this.isClosed) return
    this.renewAt = performance.now() + this.#maxAgeMs * (1 - AGE_SPREAD * Math.random())
    if (this.attempt === null) this.#owner.onFree(this)
    else this.begin()
  }

  /** Answers whether reading goes on. */
  #onRead(length: number): boolean {
    this.#take(READ_BUFFER, 0, length)
    return this.isClosed || !this.#isPaused
  }

  #take(bytes: Buffer, from: number, to: number): void {
    if (this.isClosed) return
    const attempt = this.attempt
    // Nobody has asked for anything: it must never become the answer to the next request.
    if (attempt === null || !attempt.hasBegun) {
      this.close()
      return
    }
    this.#isReading = true
    const end = this.#reader.read(bytes, from, to, attempt)
    this.#isReading = false
    if (end < to && this.attempt === attempt) this.#hold(bytes, end, to)
  }

  /** The attempt was paused: what was read already waits for it. */
  #hold(bytes: Buffer, from: number, to: number): void {
    const rest = bytes.subarray(from, to)
    this.#held = bytes === READ_BUFFER ? Buffer.from(rest) : rest
  }

  #onEnd(): void {
    const attempt = this.attempt
    if (attempt === null || !attempt.hasBegun) this.close()
    else if (this.#reader.endsWithConnection) this.onComplete(false)
    else this.#fail(this.#reader.hasHead ? FAILURES.truncated : FAILURES.reset)
  }

  onKeepAlive(value: string): void {
    this.keepAlive = value
  }

  /** The response is there. @param isKept its framing lets the connection serve another request. */
  onComplete(isKept: boolean): void {
    const attempt = this.attempt!
    if (isKept && this.#isRequestSent(attempt)) {
      this.attempt = null
      this.#owner.onFree(this)
    } else {
      this.close()
    }
    attempt.end()
  }

  /** A response that came before the end of its request leaves bytes on the way that would open the next one. */
  #isRequestSent({ request, upload }: WireAttempt): boolean {
    if (upload === null && request.body === null) return true
    if (!expectsBody(request.method)) return false
    return (upload === null || upload.isDone) && this.#socket.writableLength === 0
  }

  onFailure(failure: Failure): void {
    this.#fail(failure)
  }

  #fail(failure: Failure): void {
    if (this.isClosed) return
    const attempt = this.attempt
    const isTold = attempt !== null && (attempt.hasBegun || this.isConnecting)
    if (isTold) this.attempt = null
    this.close()
    if (isTold) attempt.fail(failure)
  }
}
