import { constants, type ServerHttp2Stream } from 'node:http2'
import type { BodyReceiver, ClientOwner, ClientStream } from '../../listener.js'
import { isBodiless } from '../../response-head.js'
import { RequestBody } from './request-body.js'
import { responseFields, trailerFields } from './response-fields.js'

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants

/** Bytes that a stream holds before its client counts as slow; what is read of a target at once comes on top. */
const MAX_UNSENT_BYTES = 64 * 1024

const WHOLE = { endStream: true }
const WITH_BODY = { endStream: false }
const WITH_TRAILERS = { waitForTrailers: true }
/** Has no body in any case, which node:http2 sees to (RFC 9110 section 15.3.6). */
const RESET_CONTENT = 205
const CONTINUE = { ':status': 100 }

const CLIENT = Symbol('client stream')
/** A stream of node:http2 with the one that is answered through it: listeners find it there, and are made once for all. */
type LinkedStream = ServerHttp2Stream & { [CLIENT]: Http2ClientStream }

/** What a stream reports to its connection. */
export interface StreamOwner {
  /** @param isEarly it ended before its response did. */
  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void
  /** So many bytes were handed over that wait to be sent. */
  onBytesQueued(bytes: number): void
  onBodyBytes(bytes: number): void
}

/**
 * A request and its response on a stream of an HTTP/2 connection (RFC 9113 section 8.1).
 *
 * States of the response:  open ─ start ─► streaming ─ end ─► handed over ─► closed        open ─ send ─► handed over
 *
 * What was handed over still waits for the client's window; the connection bounds for how long.
 */
export class Http2ClientStream implements ClientStream {
  owner: ClientOwner | null = null
  /** A connection serves many requests: the listener closes it, by GOAWAY. */
  closeAfter = false
  isGone = false
  /** Extended CONNECT (RFC 8441) is not served. */
  readonly upgrade = null
  /** Monotonic clock, ms, when the response was handed over; 0 before. */
  handedOverMono = 0
  /** Held for its cookie, which came in several fields. */
  crumbBytes = 0
  readonly #stream: LinkedStream
  readonly #connection: StreamOwner
  readonly #body: RequestBody | null
  /** All of the response was handed over, or it was given up. */
  #isOver = false
  #isWaiting = false
  waitsToContinue: boolean
  /** Content-Length of a streamed response; -1: none. */
  #length = -1
  /** Bytes taken for it. */
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
    // A reset that calls itself no error closes a stream only once what came before it was read.
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
    // Only of a length that is not known can there be fields after the body.
    const options = length < 0 && !isBodiless(status) ? WITH_TRAILERS : WITH_BODY
    if (options === WITH_TRAILERS) this.#stream.on('wantTrailers', onTrailersWanted)
    this.#stream.respond(responseFields(status, headers, length), options)
  }

  write(chunk: Uint8Array): boolean {
    const stream = this.#stream
    if (this.#isClosed || stream.writableEnded) return true
    this.#taken += chunk.length
    // More bytes than announced are malformed (RFC 9113 section 8.1.1), and may be another response's.
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

  /** Gives up a client that does not take what was handed over. */
  cancel(): void {
    this.#stream.close(NGHTTP2_CANCEL)
    this.#stream.destroy()
  }

  /** Nothing can be written: it is over, or the client has reset it, which is reported a moment later. */
  get #isClosed(): boolean {
    return this.#isOver || this.#stream.closed || this.#stream.destroyed
  }

  #handOver(): void {
    this.#isOver = true
    this.handedOverMono = performance.now()
    const body = this.#body
    if (body === null || body.isDone) return
    // The rest of the request is for nobody (RFC 9113 section 8.1).
    body.discard()
    if (this.#stream.writableFinished) this.refuseBody()
    else this.#stream.once('finish', onFinish)
  }

  /** @internal */
  refuseBody(): void {
    this.#stream.close(NGHTTP2_NO_ERROR)
    this.#stream.resume()
  }

  /** @internal */
  onDrain(): void {
    this.#isWaiting = false
    if (!this.#isOver) this.owner?.onClientDrain()
  }

  /** All of the body is out. @internal */
  sendTrailers(): void {
    if (this.#stream.closed || this.#stream.destroyed) return
    this.#stream.sendTrailers(this.#trailers === null ? {} : trailerFields(this.#trailers))
  }

  /** The stream is gone, whoever ended it. @internal */
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

/** The client has given up its upload: what it has sent is not read any more, so that the stream can close. */
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
