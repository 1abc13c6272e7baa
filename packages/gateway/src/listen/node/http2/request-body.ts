import type { ServerHttp2Stream } from 'node:http2'
import type { BodyReceiver } from '../../listener.js'

const EMPTY = new Uint8Array(0)
const BODY = Symbol('request body')
type ReadStream = ServerHttp2Stream & { [BODY]: RequestBody }

/** Counter of received body bytes. */
export interface BodyCounter {
  onBodyBytes(bytes: number): void
}

/**
 * The request body on an HTTP/2 stream. While it is paused, the client can send only up to the stream's window,
 * because the window grows only when data is read (RFC 9113 section 5.2). nghttp2 resets a stream whose body does not
 * match its Content-Length.
 */
export class RequestBody {
  /** True once the whole body was received. */
  isDone = false
  readonly #stream: ReadStream
  readonly #counter: BodyCounter
  #receiver: BodyReceiver | null = null
  #trailers: readonly string[] | null = null
  #isPaused = false

  constructor(stream: ServerHttp2Stream, counter: BodyCounter) {
    this.#stream = stream as ReadStream
    this.#stream[BODY] = this
    this.#counter = counter
    stream.on('trailers', onTrailers)
  }

  read(receiver: BodyReceiver): void {
    this.#receiver = receiver
    this.#stream.on('end', onEnd)
    this.#stream.on('data', onData)
    if (this.#isPaused) this.#stream.pause()
  }

  pause(): void {
    this.#isPaused = true
    if (this.#receiver !== null) this.#stream.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#receiver !== null) this.#stream.resume()
  }

  /** Stops delivery. Further data stays in the window until the stream is closed. */
  discard(): void {
    if (this.#receiver === null) return
    this.#receiver = null
    this.#stream.pause()
  }

  /** Delivers a chunk. @internal */
  onChunk(chunk: Uint8Array): void {
    this.#counter.onBodyBytes(chunk.length)
    this.#receiver?.onBodyChunk(chunk, false)
  }

  /** Handles the end of the body. @internal */
  onEnd(): void {
    // A reset in the middle of a body also ends the readable side.
    if (this.isDone || this.#stream.aborted) return
    this.isDone = true
    this.#receiver?.onBodyChunk(EMPTY, true, this.#trailers)
  }

  /** Stores the trailers. @internal */
  onTrailers(fields: readonly string[]): void {
    this.#trailers = fields
  }
}

function onData(this: ServerHttp2Stream, chunk: Uint8Array): void {
  const body = (this as ReadStream)[BODY]
  body.onChunk(chunk)
}

function onEnd(this: ServerHttp2Stream): void {
  const body = (this as ReadStream)[BODY]
  body.onEnd()
}

/** The last argument has names and values in turn, as for the `stream` event. */
function onTrailers(
  this: ServerHttp2Stream,
  _fields: object,
  _flags: number,
  list?: readonly string[],
): void {
  const body = (this as ReadStream)[BODY]
  body.onTrailers(list ?? [])
}
