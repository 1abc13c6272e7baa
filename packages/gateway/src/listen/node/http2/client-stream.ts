import type { BodyReceiver, ClientOwner, ClientStream } from '../../listener.js'
import { ERROR, FRAME, MAX_PAYLOAD } from './frames.js'
import { RequestBody, STREAM_WINDOW } from './request-body.js'
import { CONTINUE, encodeFields, encodeResponse } from './response-fields.js'
import type { ResponseSender, SendingStream } from './response-sender.js'

/** Bytes buffered by a stream before its client counts as slow. One more read from the target can come on top. */
const MAX_UNSENT_BYTES = 64 * 1024
/** Status without a body (RFC 9110 section 15.3.6). */
const RESET_CONTENT = 205
const EMPTY = new Uint8Array(0)

/** The connection of a stream. */
export interface StreamOwner {
  readonly sender: ResponseSender
  /** @param isEarly true if the stream closed before the end of the response, and the client caused it. */
  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void
  /** Called when bytes were queued for sending, or wait for the receiver of a body. */
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
export class Http2ClientStream implements ClientStream, SendingStream {
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
  sendWindow: number
  /** True once the client has sent its whole request. */
  isReceived: boolean
  unsentBytes = 0
  readonly id: number
  readonly #connection: StreamOwner
  readonly #sender: ResponseSender
  readonly #body: RequestBody | null
  /** Bytes that the client may send. */
  #receiveWindow = STREAM_WINDOW
  /** Bytes delivered since the last WINDOW_UPDATE. */
  #delivered = 0
  /** Content-Length of the request, or -1 if it is unknown. */
  #requestLength = -1
  #receivedBytes = 0
  /** True if the whole response was handed over or abandoned. */
  #isOver = false
  /** True once the last frame of the response was sent. */
  #isSent = false
  #isClosed = false
  #isWaiting = false
  readonly #queue: Uint8Array[] = []
  /** Content-Length of a streamed response, or -1 if unknown. */
  #length = -1
  /** Body bytes accepted so far. */
  #taken = 0
  #trailers = ''

  constructor(connection: StreamOwner, id: number, sendWindow: number, hasBody: boolean) {
    this.#connection = connection
    this.#sender = connection.sender
    this.id = id
    this.sendWindow = sendWindow
    this.isReceived = !hasBody
    this.#body = hasBody ? new RequestBody((bytes) => this.#onDelivered(bytes)) : null
  }

  /** Bytes of the request that the client may still have sent. */
  get lateBytes(): number {
    return this.isReceived ? 0 : Math.max(0, this.#receiveWindow)
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
    this.#isSent = isEnd
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
    if (trailers !== null && this.#length < 0) this.#trailers = encodeFields(trailers)
    this.#isOver = true
    if (this.#queue.length === 0) this.#sendEnd()
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
    this.#connection.onStreamClose(this, !wasOver && !isRefused)
    if (!wasOver) this.owner?.onClientAbort()
  }

  #write(bytes: Uint8Array, isEnd: boolean): void {
    const sent = this.#queue.length === 0 ? this.#sender.sendData(this, bytes, isEnd) : 0
    if (sent === bytes.length) {
      this.#isSent ||= isEnd
      return
    }
    // The chunk is valid only during the call.
    this.#queue.push(Buffer.from(bytes.subarray(sent)))
    this.unsentBytes += bytes.length - sent
    this.#connection.onBytesQueued(bytes.length - sent)
  }

  pump(): boolean {
    const bytes = this.#queue[0]
    if (this.#isClosed || bytes === undefined) return true
    const part = bytes.length > MAX_PAYLOAD ? bytes.subarray(0, MAX_PAYLOAD) : bytes
    const isLast = part === bytes && this.#queue.length === 1 && this.#isOver && this.#trailers === ''
    const sent = this.#sender.sendData(this, part, isLast)
    this.unsentBytes -= sent
    if (sent === bytes.length) this.#queue.shift()
    else this.#queue[0] = bytes.subarray(sent)
    if (this.#queue.length > 0) return false
    if (isLast) this.#isSent = true
    if (this.#isOver) this.#sendEnd()
    else if (this.#isWaiting) {
      this.#isWaiting = false
      this.owner?.onClientDrain()
    }
    this.#closeIfDone()
    return this.#queue.length === 0
  }

  #sendEnd(): void {
    if (this.#isSent) return
    this.#isSent = true
    if (this.#trailers !== '') this.#sender.writer.block(this.#trailers, this.id, true)
    else this.#sender.sendData(this, EMPTY, true)
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
    if (!this.#isSent || !this.#isOver || this.#isClosed) return
    if (!this.isReceived) this.#sender.writer.numbers(FRAME.reset, 0, this.id, ERROR.none)
    this.#isClosed = true
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
    this.#receiveWindow -= size
    if (this.#receiveWindow < 0) return false
    this.#receivedBytes += data.length
    this.isReceived = isEnd
    if (!this.#checkLength()) return true
    this.#onDelivered(size - data.length)
    this.#body!.onData(data)
    if (this.#body!.waitingBytes > 0) this.#connection.onBytesQueued(data.length)
    if (isEnd) this.#body!.onEnd(null)
    return true
  }

  /** Handles the trailers, which end the request. */
  onTrailers(trailers: readonly string[]): void {
    this.isReceived = true
    if (this.#checkLength()) this.#body!.onEnd(trailers)
  }

  /** Lets the client send more, once half of the window is used. */
  #onDelivered(bytes: number): void {
    this.#delivered += bytes
    if (this.#delivered < STREAM_WINDOW / 2 || this.isReceived || this.#isClosed) return
    this.#sender.writer.numbers(FRAME.windowUpdate, 0, this.id, this.#delivered)
    this.#receiveWindow += this.#delivered
    this.#delivered = 0
  }
}
