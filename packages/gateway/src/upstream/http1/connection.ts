import type net from 'node:net'
import { BodyBlock } from '../../lib/body-block.js'
import type { CachedClock } from '../../lib/cached-clock.js'
import { latin1Of, MAX_TEXT_BYTES } from '../../lib/latin1.js'
import { FAILURES, failureOf } from '../transport/failure.js'
import { Opening } from '../transport/opening.js'
import type { Failure, UpstreamRequest } from '../transport/transport.js'
import { ConnectTimeoutError } from '../transport/tunnel.js'
import { type ResponseEvents, ResponseReader } from './response-reader.js'
import { type ConnectionOptions, openSocket, READ_BUFFER } from './target-socket.js'
import type { WireAttempt } from './wire-attempt.js'
import type { UploadSink } from './wire-upload.js'

/** Owner of connections, implemented by the pool. */
export interface ConnectionOwner {
  /** Called when the connection can serve an attempt: it is connected, or its response is complete. */
  onFree(connection: Connection): void
  /** Called when the connection has closed. An attempt still assigned to it has not been sent. */
  onClosed(connection: Connection): void
}

/**
 * Final fraction of the maximum age over which connections opened together are renewed, to avoid renewing all at once.
 */
const AGE_SPREAD = 0.1

/** An HTTP/1.1 connection to a target. It serves one attempt at a time. */
export class Connection implements UploadSink, ResponseEvents {
  /** Current attempt, or null while the connection is idle. */
  attempt: WireAttempt | null = null
  isConnecting = true
  isClosed = false
  /** True while it waits in the write batch. */
  isInBatch = false
  /** True if it should close after its response. */
  isOld = false
  /** Monotonic time at which it becomes old. */
  renewAt = Number.POSITIVE_INFINITY
  /** Round of the pool's clock in which it became idle. */
  idleSince = 0
  /** Last Keep-Alive value from the target, or empty. */
  keepAlive = ''
  /** Number of requests started on it. */
  #requests = 0
  readonly #opening = new Opening()
  readonly #owner: ConnectionOwner
  readonly #socket: net.Socket
  readonly #reader: ResponseReader
  readonly #timer: NodeJS.Timeout
  readonly #maxAgeMs: number
  readonly #clock: CachedClock
  #isReading = false
  /** Bytes that were read while the attempt was paused. */
  #held: Buffer | null = null

  /** @param connectMs timeout for DNS and TCP together. */
  constructor(
    options: ConnectionOptions & { readonly clock: CachedClock },
    owner: ConnectionOwner,
    connectMs: number,
  ) {
    this.#owner = owner
    this.#clock = options.clock
    this.#maxAgeMs = options.maxConnectionAgeMs
    this.#reader = new ResponseReader(this, options)
    const socket = openSocket(options, (length) => this.#onRead(length))
    this.#socket = socket
    this.#opening.watch(socket)
    this.#timer = setTimeout(() => this.#fail(failureOf(new ConnectTimeoutError())), connectMs)
    socket.on('connect', () => this.#onConnect())
    socket.on('drain', () => this.attempt?.upload?.flush())
    socket.on('end', () => this.#onEnd())
    socket.on('error', (error) => this.#fail(failureOf(error)))
    socket.on('close', () => this.#fail(FAILURES.reset))
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  /** Sends the request of the assigned attempt. */
  begin(): void {
    const attempt = this.attempt!
    const { request } = attempt
    attempt.hasBegun = true
    this.#reader.begin(request.method)
    attempt.observer.onStarted(this.#requests++ > 0 ? null : this.#opening)
    if (this.isClosed || this.attempt !== attempt) return
    this.#writeRequest(attempt.head, request.body)
    if (request.upload !== null) attempt.upload!.attach(this)
    if (attempt.isPaused) this.#socket.pause()
  }

  /** Writes head and body in one system call. For a small body, appending it to the string is cheaper. */
  #writeRequest(head: string, body: UpstreamRequest['body']): void {
    const socket = this.#socket
    if (body === null || body.length === 0) socket.write(head, 'latin1')
    else if (body instanceof BodyBlock) this.#writeBlock(head, body)
    else if (body.length <= MAX_TEXT_BYTES) socket.write(head + latin1Of(body), 'latin1')
    else {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(body)
      socket.uncork()
    }
  }

  #writeBlock(head: string, block: BodyBlock): void {
    const whole = block.withHead(head)
    if (whole === null) this.#writeRequest(head, block.bytes())
    else this.#socket.write(whole)
  }

  write(bytes: Uint8Array): boolean {
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

  /** Closes without failing the attempt. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#held = null
    clearTimeout(this.#timer)
    if (this.attempt?.hasBegun === true) this.attempt = null
    this.#socket.destroy()
    this.#owner.onClosed(this)
  }

  /** A connection in progress stays for a later attempt. The present one would inherit a partly used timeout. */
  release(): void {
    this.attempt = null
    if (!this.isConnecting) this.#owner.onFree(this)
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

  /** Processes a read. Returns true if reading should go on. */
  #onRead(length: number): boolean {
    // The head, the deadlines and the end of a short response share one reading.
    this.#clock.read()
    try {
      this.#take(READ_BUFFER, 0, length)
    } finally {
      this.#clock.drop()
    }
    return this.isClosed || !this.#isPaused
  }

  #take(bytes: Buffer, from: number, to: number): void {
    let at = from
    while (at < to && !this.isClosed) {
      const attempt = this.attempt
      // Unexpected bytes must never become the response to the next request.
      if (attempt === null || !attempt.hasBegun) {
        this.close()
        return
      }
      at = this.#read(bytes, at, to, attempt)
      if (at < to && this.attempt === attempt) {
        this.#hold(bytes, at, to)
        return
      }
    }
  }

  #read(bytes: Buffer, from: number, to: number, attempt: WireAttempt): number {
    this.#isReading = true
    try {
      return this.#reader.read(bytes, from, to, attempt)
    } finally {
      this.#isReading = false
    }
  }

  /** Keeps bytes that were already read when the attempt was paused. */
  #hold(bytes: Buffer, from: number, to: number): void {
    const rest = bytes.subarray(from, to)
    this.#held = bytes === READ_BUFFER ? Buffer.from(rest) : rest
  }

  #onEnd(): void {
    const attempt = this.attempt
    if (attempt === null || !attempt.hasBegun) this.close()
    else if (this.#reader.endsWithConnection) this.#completeUnlessReset(attempt)
    else this.#fail(this.#reader.hasHead ? FAILURES.truncated : FAILURES.reset)
  }

  /**
   * Completes a response that ends with the connection. If a reset arrives together with the last bytes, libuv may
   * report a plain end, because it stops after a read that did not fill its buffer. An empty write reveals the reset.
   */
  #completeUnlessReset(attempt: WireAttempt): void {
    this.#socket.write('', (error) => {
      if (!error && this.attempt === attempt) this.onComplete(false, true, null)
    })
  }

  onKeepAlive(value: string): void {
    this.keepAlive = value
  }

  /**
   * Handles the end of a response.
   * @param isKept true if the framing allows another request on the connection.
   * @param isLast true if no bytes followed the response.
   */
  onComplete(isKept: boolean, isLast: boolean, trailers: readonly string[] | null): void {
    if (this.isClosed) return
    const attempt = this.attempt!
    if (isKept && isLast && attempt.isSent(this.unsentBytes)) {
      this.attempt = null
      this.#owner.onFree(this)
    } else {
      this.close()
    }
    attempt.end(trailers)
  }

  onFailure(failure: Failure): void {
    this.#fail(failure)
  }

  #fail(failure: Failure): void {
    if (this.isClosed) return
    const attempt = this.attempt
    const isReported = attempt !== null && (attempt.hasBegun || this.isConnecting)
    if (isReported) this.attempt = null
    this.close()
    if (isReported) attempt.fail(failure)
  }
}
