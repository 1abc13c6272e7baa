import type { DataSender } from '../../../protocol/http2/data-sender.js'
import { ERROR, FRAME } from '../../../protocol/http2/frames.js'
import { IncomingBody } from '../../../protocol/http2/incoming-body.js'
import { OutgoingBody, type OutgoingBodyOwner } from '../../../protocol/http2/outgoing-body.js'
import type { BodyReceiver, ClientOwner, ClientStream } from '../../listener.js'
import { CONTINUE, encodeFields, encodeResponse } from './response-fields.js'

/** Flow-control window of a stream in bytes, which bounds an upload that is not read. */
export const STREAM_WINDOW = 128 * 1024
/** Bytes buffered by a stream before its client counts as slow. One more read from the target can come on top. */
const MAX_UNSENT_BYTES = 64 * 1024
/** Status without a body (RFC 9110 section 15.3.6). */
const RESET_CONTENT = 205
const EMPTY = new Uint8Array(0)

/** The connection of a stream. */
export interface StreamOwner {
  readonly sender: DataSender
  /** @param isEarly true if the stream closed before the end of the response, and the client caused it. */
  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void
  /** Called when bytes were queued for sending, or for the receiver of a body. */
  onBytesQueued(bytes: number): void
}

/**
 * A request and its response on a stream of an HTTP/2 connection (RFC 9113 section 8.1).
 *
 * States of the response:
 *
 *     open ─ start ─► streaming ─ end ─► handed over ─► closed        open ─ send ─► handed over
 *
 * Bytes that were handed over still wait for the client's flow-control window. The connection limits that time.
 */
export class Http2ClientStream implements ClientStream, OutgoingBodyOwner {
  owner: ClientOwner | null = null
  /** Ignored: a connection serves many requests, and the listener closes it by GOAWAY. */
  closeAfter = false
  isGone = false
  /** Always null: extended CONNECT (RFC 8441) is not supported. */
  readonly upgrade = null
  /** Monotonic time in milliseconds when the response was handed over, or 0 before that. */
  handedOverMono = 0
  /** Bytes that waited for the client at that time. */
  handedOverBytes = 0
  /** Bytes held for a Cookie field that arrived in several parts. */
  crumbBytes = 0
  waitsToContinue = false
  readonly id: number
  /** The body of the response. */
  readonly outgoing: OutgoingBody
  readonly #connection: StreamOwner
  readonly #sender: DataSender
  readonly #body: IncomingBody | null
  /** Content-Length of the request, or -1 if it is unknown. */
  #requestLength = -1
  #receivedBytes = 0
  /** True if the whole response was handed over or abandoned. */
  #isOver = false
  #isClosed = false
  #isWaiting = false
  /** Content-Length of a streamed response, or -1 if unknown. */
  #length = -1
  /** Body bytes accepted so far. */
  #taken = 0

  constructor(connection: StreamOwner, id: number, sendWindow: number, hasBody: boolean) {
    this.#connection = connection
    this.#sender = connection.sender
    this.id = id
    this.outgoing = new OutgoingBody(this.#sender, id, sendWindow, this)
    this.#body = hasBody ? new IncomingBody(this.#sender.writer, id, STREAM_WINDOW) : null
  }

  get unsentBytes(): number {
    return this.outgoing.unsentBytes
  }

  /** True once the client has sent its whole request. */
  get isReceived(): boolean {
    return this.#body === null || this.#body.isReceived
  }

  /** Bytes of the request that the client may still have sent. */
  get lateBytes(): number {
    return this.#body?.lateBytes ?? 0
  }

  /** Bytes of the request body that wait for their receiver. */
  get unreadBytes(): number {
    return this.#body === null ? 0 : this.#body.waitingBytes
  }

  get hasBody(): boolean {
    return this.#body !== null
  }

  readBody(receiver: BodyReceiver): void {
    if (this.waitsToContinue && !this.#isOver) {
      this.waitsToContinue = false
      this.#sender.writer.block(CONTINUE, this.id, false)
    }
    this.#body?.read(receiver)
  }

  pauseBody(): void {
    this.#body?.pause()
  }

  resumeBody(): void {
    this.#body?.resume()
  }

  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void {
    if (this.#isOver) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? EMPTY)
    if (bytes.length === 0 || status === RESET_CONTENT) this.sendHead(status, headers, -1)
    else {
      this.#start(status, headers, bytes.length, false)
      this.#write(bytes, true)
      this.#handOver()
    }
  }

  sendHead(status: number, headers: readonly string[], length: number): void {
    if (this.#isOver) return
    this.#start(status, headers, length, true)
    this.#handOver()
  }

  start(status: number, headers: readonly string[], length: number): void {
    if (this.#isOver) return
    this.#length = length
    this.#start(status, headers, length, false)
  }

  #start(status: number, headers: readonly string[], length: number, isEnd: boolean): void {
    this.outgoing.isSent = isEnd
    const block = encodeResponse(status, headers, length)
    this.#sender.writer.block(block, this.id, isEnd)
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true
    this.#taken += chunk.length
    // Bytes beyond the announced length are malformed (RFC 9113 section 8.1.1), and may belong to another response.
    if (this.#length >= 0 && this.#taken > this.#length) {
      this.abort()
      return true
    }
    this.#write(chunk, this.#taken === this.#length)
    if (this.unsentBytes < MAX_UNSENT_BYTES) return true
    this.#isWaiting = true
    return false
  }

  end(trailers: readonly string[] | null = null): boolean {
    if (this.#isOver) return true
    if (this.#length >= 0 && this.#taken < this.#length) {
      this.abort()
      return true
    }
    // Trailers are possible only if the length is unknown.
    this.outgoing.end(trailers !== null && this.#length < 0 ? encodeFields(trailers) : '')
    this.#handOver()
    return true
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.reset(ERROR.internal)
  }

  /** Cancels the stream of a client that does not read its response. */
  cancel(): void {
    this.reset(ERROR.cancel)
  }

  /** Resets the stream. */
  reset(code: number): void {
    if (this.#isClosed) return
    this.#sender.writer.numbers(FRAME.reset, 0, this.id, code)
    this.onGone(code === ERROR.refusedStream)
  }

  /** Handles the loss of the stream, from either side. @param isRefused true if the gateway was too busy for it. */
  onGone(isRefused = false): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.isGone = true
    const wasOver = this.#isOver
    this.#isOver = true
    this.#body?.discard()
    this.outgoing.discard()
    this.#connection.onStreamClose(this, !wasOver && !isRefused)
    if (!wasOver) this.owner?.onClientAbort()
  }

  #write(bytes: Uint8Array, isEnd: boolean): void {
    const queued = this.unsentBytes
    this.outgoing.write(bytes, isEnd)
    if (this.unsentBytes > queued) this.#connection.onBytesQueued(this.unsentBytes - queued)
  }

  onQueueSent(): void {
    if (this.#isWaiting && !this.#isOver) {
      this.#isWaiting = false
      this.owner?.onClientDrain()
    }
    this.#closeIfDone()
  }

  #handOver(): void {
    this.#isOver = true
    this.handedOverMono = performance.now()
    this.handedOverBytes = this.unsentBytes
    this.#body?.discard()
    this.#closeIfDone()
  }

  /** Closes the stream after its response. The rest of the request is not needed (RFC 9113 section 8.1). */
  #closeIfDone(): void {
    if (!this.outgoing.isSent || !this.#isOver || this.#isClosed) return
    if (!this.isReceived) this.#sender.writer.numbers(FRAME.reset, 0, this.id, ERROR.none)
    this.#isClosed = true
    this.outgoing.discard()
    this.#connection.onStreamClose(this, false)
  }

  /** Sets the Content-Length of the request, or -1. */
  expect(length: number): void {
    this.#requestLength = length
    this.#checkLength()
  }

  /** Resets the stream if its body does not match its Content-Length (RFC 9113 section 8.1.1). */
  #checkLength(): boolean {
    const length = this.#requestLength
    const received = this.#receivedBytes
    const isValid = length < 0 || (this.isReceived ? received === length : received <= length)
    if (!isValid) this.reset(ERROR.protocol)
    return isValid
  }

  /**
   * Handles data of the request. Returns false if it exceeds the window of the stream.
   * @param size size with padding, which counts for the window.
   */
  onData(data: Buffer, size: number, isEnd: boolean): boolean {
    if (!this.#body!.accepts(size, isEnd)) return false
    this.#receivedBytes += data.length
    if (!this.#checkLength()) return true
    this.#body!.onData(data, size)
    if (this.#body!.waitingBytes > 0) this.#connection.onBytesQueued(data.length)
    if (isEnd) this.#body!.onEnd(null)
    return true
  }

  /** Handles the trailers, which end the request. */
  onTrailers(trailers: readonly string[]): void {
    this.#body!.isReceived = true
    if (this.#checkLength()) this.#body!.onEnd(trailers)
  }
}
