import { constants, type ServerHttp2Stream } from 'node:http2'
import type { BodyReceiver, ClientOwner, ClientStream } from '../../listener.js'
import { isBodiless } from '../../response-head.js'
import { RequestBody } from './request-body.js'
import { responseFields, trailerFields } from './response-fields.js'

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants

/** Bytes buffered by a stream before its client counts as slow. One more read from the target can come on top. */
const MAX_UNSENT_BYTES = 64 * 1024

const WHOLE = { endStream: true }
const WITH_BODY = { endStream: false }
const WITH_TRAILERS = { waitForTrailers: true }
/** Status without a body, which node:http2 enforces (RFC 9110 section 15.3.6). */
const RESET_CONTENT = 205
const CONTINUE = { ':status': 100 }

const CLIENT = Symbol('client stream')
/** A node:http2 stream with its client stream attached, so that the event listeners need no closures. */
type LinkedStream = ServerHttp2Stream & { [CLIENT]: Http2ClientStream }

/** Receiver of a stream's events, implemented by the connection. */
export interface StreamOwner {
  /** @param isEarly true if the stream closed before the end of the response. */
  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void
  /** Called when bytes were queued for sending. */
  onBytesQueued(bytes: number): void
  onBodyBytes(bytes: number): void
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
export class Http2ClientStream implements ClientStream {
  owner: ClientOwner | null = null
  /** Ignored: a connection serves many requests, and the listener closes it by GOAWAY. */
  closeAfter = false
  isGone = false
  /** Always null: extended CONNECT (RFC 8441) is not supported. */
  readonly upgrade = null
  /** Monotonic time in milliseconds when the response was handed over, or 0 before that. */
  handedOverMono = 0
  /** Bytes held for a Cookie field that arrived in several parts. */
  crumbBytes = 0
  readonly #stream: LinkedStream
  readonly #connection: StreamOwner
  readonly #body: RequestBody | null
  /** True if the whole response was handed over or abandoned. */
  #isOver = false
  #isWaiting = false
  waitsToContinue: boolean
  /** Content-Length of a streamed response, or -1 if unknown. */
  #length = -1
  /** Body bytes accepted so far. */
  #taken = 0
  #trailers: readonly string[] | null = null

  constructor(
    stream: ServerHttp2Stream,
    connection: StreamOwner,
    hasBody: boolean,
    waitsToContinue: boolean,
  ) {
    this.#stream = stream as LinkedStream
    this.#stream[CLIENT] = this
    this.#connection = connection
    this.waitsToContinue = waitsToContinue
    stream.on('close', onClose)
    this.#body = hasBody ? new RequestBody(stream, connection) : null
    // After a reset with NO_ERROR, node:http2 closes the stream only once the data before it was read.
    if (hasBody) stream.on('aborted', onAborted)
  }

  readBody(receiver: BodyReceiver): void {
    if (this.waitsToContinue && !this.#isClosed) {
      this.waitsToContinue = false
      this.#stream.additionalHeaders(CONTINUE)
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
    if (this.#isClosed) return
    const length = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length
    if (length === 0 || status === RESET_CONTENT)
      this.#stream.respond(responseFields(status, headers, -1), WHOLE)
    else {
      this.#stream.respond(responseFields(status, headers, length), WITH_BODY)
      this.#stream.end(typeof body === 'string' ? body : Buffer.from(body!))
      this.#connection.onBytesQueued(length)
    }
    this.#handOver()
  }

  sendHead(status: number, headers: readonly string[], length: number): void {
    if (this.#isClosed) return
    this.#stream.respond(responseFields(status, headers, length), WHOLE)
    this.#handOver()
  }

  start(status: number, headers: readonly string[], length: number): void {
    if (this.#isClosed) return
    this.#length = length
    // Trailers are possible only if the length is unknown.
    const options = length < 0 && !isBodiless(status) ? WITH_TRAILERS : WITH_BODY
    if (options === WITH_TRAILERS) this.#stream.on('wantTrailers', onTrailersWanted)
    this.#stream.respond(responseFields(status, headers, length), options)
  }

  write(chunk: Uint8Array): boolean {
    const stream = this.#stream
    if (this.#isClosed || stream.writableEnded) return true
    this.#taken += chunk.length
    // Bytes beyond the announced length are malformed (RFC 9113 section 8.1.1), and may belong to another response.
    if (this.#length >= 0 && this.#taken > this.#length) {
      this.abort()
      return true
    }
    stream.write(Buffer.from(chunk))
    this.#connection.onBytesQueued(chunk.length)
    if (stream.writableLength < MAX_UNSENT_BYTES) return true
    if (!this.#isWaiting) {
      this.#isWaiting = true
      stream.once('drain', onDrain)
    }
    return false
  }

  end(trailers: readonly string[] | null = null): boolean {
    if (this.#isClosed) return true
    if (this.#length >= 0 && this.#taken < this.#length) {
      this.abort()
      return true
    }
    this.#trailers = trailers
    this.#stream.end()
    this.#handOver()
    return true
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body?.discard()
    this.#stream.close(NGHTTP2_INTERNAL_ERROR)
  }

  get unsentBytes(): number {
    return this.#stream.writableLength
  }

  /** Cancels the stream of a client that does not read its response. */
  cancel(): void {
    this.#stream.close(NGHTTP2_CANCEL)
    this.#stream.destroy()
  }

  /**
   * True if nothing more can be written: the response is over, or the client has reset the stream. That is reported
   * later.
   */
  get #isClosed(): boolean {
    return this.#isOver || this.#stream.closed || this.#stream.destroyed
  }

  #handOver(): void {
    this.#isOver = true
    this.handedOverMono = performance.now()
    const body = this.#body
    if (body === null || body.isDone) return
    // The rest of the request is not needed (RFC 9113 section 8.1).
    body.discard()
    if (this.#stream.writableFinished) this.refuseBody()
    else this.#stream.once('finish', onFinish)
  }

  /** Closes the stream without reading the rest of the request body. @internal */
  refuseBody(): void {
    this.#stream.close(NGHTTP2_NO_ERROR)
    this.#stream.resume()
  }

  /** Tells the owner that the stream has room for more bytes. @internal */
  onDrain(): void {
    this.#isWaiting = false
    if (!this.#isOver) this.owner?.onClientDrain()
  }

  /** Sends the trailers once the whole body was sent. @internal */
  sendTrailers(): void {
    if (this.#stream.closed || this.#stream.destroyed) return
    this.#stream.sendTrailers(this.#trailers === null ? {} : trailerFields(this.#trailers))
  }

  /** Handles the end of the stream, from either side. @internal */
  onGone(): void {
    if (this.isGone) return
    this.isGone = true
    const wasOver = this.#isOver
    this.#isOver = true
    this.#body?.discard()
    if (!wasOver) this.owner?.onClientAbort()
    this.#connection.onStreamClose(this, !wasOver)
  }
}

function onClose(this: ServerHttp2Stream): void {
  const client = (this as LinkedStream)[CLIENT]
  client.onGone()
}

/** Handles a reset by the client. The data it has sent is discarded, so that the stream can close. */
function onAborted(this: ServerHttp2Stream): void {
  const client = (this as LinkedStream)[CLIENT]
  client.onGone()
  this.resume()
}

function onDrain(this: ServerHttp2Stream): void {
  const client = (this as LinkedStream)[CLIENT]
  client.onDrain()
}

function onFinish(this: ServerHttp2Stream): void {
  const client = (this as LinkedStream)[CLIENT]
  client.refuseBody()
}

function onTrailersWanted(this: ServerHttp2Stream): void {
  const client = (this as LinkedStream)[CLIENT]
  client.sendTrailers()
}
