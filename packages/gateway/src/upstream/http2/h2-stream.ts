import { bytesOf } from '../../lib/body-block.js'
import type { DataSender } from '../../protocol/http2/data-sender.js'
import { ERROR, FRAME } from '../../protocol/http2/frames.js'
import { IncomingBody, type IncomingBodyReceiver } from '../../protocol/http2/incoming-body.js'
import { OutgoingBody, type OutgoingBodyOwner } from '../../protocol/http2/outgoing-body.js'
import { forwardableTrailers } from '../../protocol/response-fields.js'
import type { UploadSink, WireUpload } from '../http1/wire-upload.js'
import { FAILURES, MAX_INFORMATIONAL } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import { ReceivedHead } from '../transport/received-head.js'
import type { AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import { encodeTrailers } from './request-fields.js'
import { areTrailers, statusOf } from './response-fields.js'

/** Flow-control window of a stream in bytes, which bounds a response that is not read. */
export const STREAM_WINDOW = 256 * 1024
/** Bytes of an upload that a stream queues before the client is paused. */
const MAX_UNSENT_BYTES = 64 * 1024

/** The attempt of a stream. */
export interface StreamAttempt {
  readonly request: UpstreamRequest
  readonly observer: AttemptObserver
  end(trailers: readonly string[] | null): void
  fail(failure: Failure): void
  /** Returns true if the fields exceed the size limit of heads. */
  isTooLarge(fields: readonly string[]): boolean
}

/** The connection of a stream. */
export interface StreamConnection {
  readonly sender: DataSender
  /**
   * Called when response bytes were delivered or dropped, so that the target may send more.
   * @param lent how many of them were lent.
   */
  onDelivered(bytes: number, lent?: number): void
  /** Lets the target send more although bytes wait for the client. Returns false if too many wait. */
  lend(bytes: number): boolean
  onStreamClose(stream: H2Stream): void
  /** Checks if the target is still reachable, after a request was abandoned without a response. */
  checkTarget(): void
}

/**
 * A request and its response on a stream (RFC 9113 section 8.1):
 *
 *     open ─ 1xx… ─► open ─ head ─► body ─ received ─► delivered (closed)      any ─ reset, failure ─► closed
 *
 * A response that was received completely is delivered even if the stream or its connection is lost.
 */
export class H2Stream implements UploadSink, OutgoingBodyOwner, IncomingBodyReceiver {
  readonly id: number
  /** The body of the request. */
  readonly outgoing: OutgoingBody
  readonly #download: IncomingBody
  readonly #attempt: StreamAttempt
  readonly #connection: StreamConnection
  #head: ReceivedHead | null = null
  #informational = 0
  /** Body length that the response must have, or -1 if unknown. */
  #length = -1
  #bodyBytes = 0
  /** Waiting bytes that the target may already send again on other streams. */
  #lentBytes = 0
  #isClosed = false

  constructor(attempt: StreamAttempt, connection: StreamConnection, id: number) {
    const { sender } = connection
    this.id = id
    this.#attempt = attempt
    this.#connection = connection
    this.outgoing = new OutgoingBody(sender, id, sender.initialWindow, this)
    this.#download = new IncomingBody(sender.writer, id, STREAM_WINDOW)
    this.#download.read(this)
  }

  /** Sends the request. @param block encoded head. */
  begin(block: string, opening: Opening | null): void {
    const { body, upload } = this.#attempt.request
    const hasBody = upload !== null || (body !== null && body.length > 0)
    this.outgoing.isSent = !hasBody
    this.#connection.sender.writer.block(block, this.id, !hasBody)
    this.#attempt.observer.onStarted(opening)
    if (this.#isClosed) return
    if (upload !== null) (upload as WireUpload).attach(this)
    else if (hasBody) this.outgoing.write(bytesOf(body!), true)
  }

  pause(): void {
    this.#download.pause()
  }

  resume(): void {
    this.#download.resume()
  }

  /** Cancels the stream. Nothing more is reported. */
  cancel(): void {
    this.#close(ERROR.cancel)
    if (this.#head === null) this.#connection.checkTarget()
  }

  // Request.

  get unsentBytes(): number {
    return this.outgoing.unsentBytes
  }

  write(bytes: Uint8Array): boolean {
    this.outgoing.write(bytes, false)
    return this.unsentBytes < MAX_UNSENT_BYTES
  }

  onUploadEnd(trailers: readonly string[] | null): void {
    this.outgoing.end(encodeTrailers(trailers))
  }

  onUploadBroken(): void {
    this.fail(FAILURES.request, ERROR.cancel)
  }

  onQueueSent(): void {
    ;(this.#attempt.request.upload as WireUpload | null)?.flush()
  }

  // Response.

  /** Handles fields. @param isTooLarge true if they exceed the limits of the connection. */
  onFields(fields: string[], isEnd: boolean, isTooLarge: boolean): void {
    if (isTooLarge) this.fail(FAILURES.overflow, ERROR.cancel)
    else if (this.#head === null) this.#onHead(fields, isEnd)
    else if (!isEnd || !areTrailers(fields)) this.fail(FAILURES.invalid, ERROR.protocol)
    else this.#download.onEnd(forwardableTrailers(fields))
  }

  #onHead(fields: string[], isEnd: boolean): void {
    const status = statusOf(fields)
    if (status < 0 || status === 101 || (status < 200 && isEnd)) this.fail(FAILURES.invalid, ERROR.protocol)
    else if (status < 100 || status > 599) this.fail(FAILURES.badStatus, ERROR.cancel)
    else if (status < 200) {
      if (++this.#informational > MAX_INFORMATIONAL) this.fail(FAILURES.tooManyInformational, ERROR.cancel)
    } else if (this.#attempt.isTooLarge(fields)) this.fail(FAILURES.overflow, ERROR.cancel)
    else {
      const head = new ReceivedHead(status, fields.slice(2), true)
      const hasNoBody = status === 204 || status === 304 || this.#attempt.request.method === 'HEAD'
      this.#head = head
      this.#length = hasNoBody ? 0 : head.length
      this.#attempt.observer.onHead(head)
      if (isEnd) this.#download.onEnd(null)
    }
  }

  /**
   * Handles a DATA frame. Returns false if it exceeds the window of the stream.
   * @param size size with padding, which counts towards the window.
   */
  onData(data: Buffer, size: number, isEnd: boolean): boolean {
    this.#connection.onDelivered(size - data.length)
    if (!this.#download.accepts(size, isEnd)) return false
    this.#bodyBytes += data.length
    if (this.#head === null) this.fail(FAILURES.invalid, ERROR.protocol)
    else if (this.#length >= 0 && this.#bodyBytes > this.#length)
      this.fail(FAILURES.truncated, ERROR.protocol)
    if (this.#isClosed) this.#connection.onDelivered(data.length)
    else this.#receive(data, size)
    if (isEnd) this.#download.onEnd(null)
    return true
  }

  #receive(data: Buffer, size: number): void {
    const before = this.#download.waitingBytes
    this.#download.onData(data, size)
    const waits = this.#download.waitingBytes - before
    if (waits > 0 && this.#connection.lend(waits)) this.#lentBytes += waits
  }

  /** Returns bytes to the window of the connection. */
  #release(bytes: number): void {
    const lent = Math.min(bytes, this.#lentBytes)
    this.#lentBytes -= lent
    this.#connection.onDelivered(bytes, lent)
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers: readonly string[] | null = null): void {
    if (isLast) this.#complete(trailers)
    else {
      this.#release(chunk.length)
      this.#attempt.observer.onData(chunk)
    }
  }

  #complete(trailers: readonly string[] | null): void {
    if (this.#length >= 0 && this.#bodyBytes !== this.#length) {
      this.fail(FAILURES.truncated, ERROR.protocol)
      return
    }
    // A target may respond before it has read the whole request (RFC 9113 section 8.1).
    this.#close(this.outgoing.isSent ? null : ERROR.none)
    this.#attempt.end(trailers)
  }

  /** Handles the loss of the stream, by a reset or with its connection. */
  onLost(failure: Failure): void {
    if (!this.#download.isReceived) {
      this.fail(failure, null)
      return
    }
    this.outgoing.isSent = true
    this.outgoing.discard()
    this.#attempt.request.upload?.destroy()
  }

  /** Ends the stream. @param code error code of the reset, or null to send none. */
  fail(failure: Failure, code: number | null): void {
    if (this.#isClosed) return
    this.#close(code)
    const isReset = failure === FAILURES.reset || failure === FAILURES.unprocessed
    this.#attempt.fail(isReset && this.#head !== null ? FAILURES.truncated : failure)
  }

  /** True once the target has sent its whole response. */
  get isReceived(): boolean {
    return this.#download.isReceived
  }

  /** Maximum number of response bytes that may still arrive without a further WINDOW_UPDATE. */
  get lateBytes(): number {
    return this.#download.lateBytes
  }

  #close(code: number | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (code !== null) this.#connection.sender.writer.numbers(FRAME.reset, 0, this.id, code)
    this.outgoing.discard()
    this.#release(this.#download.waitingBytes)
    this.#download.discard()
    this.#attempt.request.upload?.destroy()
    this.#connection.onStreamClose(this)
  }
}
