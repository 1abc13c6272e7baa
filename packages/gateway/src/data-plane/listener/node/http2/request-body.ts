import type { ServerHttp2Stream } from 'node:http2'
import type { BodyReceiver } from '../../listener.js'

const EMPTY = new Uint8Array(0)
const BODY = Symbol('request body')
type ReadStream = ServerHttp2Stream & { [BODY]: RequestBody }

/** What counts the bytes of bodies. */
export interface BodyCounter {
  onBodyBytes(bytes: number): void
}

/**
 * The body of a request on a stream. Paused, it takes no more than the stream's window, which grows only by what was
 * read (RFC 9113 section 5.2). nghttp2 resets a body that is not as long as its Content-Length says.
 */
export class RequestBody {
  /** All of it has come. */
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

  /** What still comes is for nobody; it waits in the window until the stream is closed. */
  discard(): void {
    if (this.#receiver === null) return
    this.#receiver = null
    this.#stream.pause()
  }

  /** @internal */
  onChunk(chunk: Uint8Array): void {
    this.#counter.onBodyBytes(chunk.length)
    this.#receiver?.onBodyChunk(chunk, false)
  }

  /** @internal */
  onEnd(): void {
    // A reset in the middle of a body ends it too, for those who read.
    if (this.isDone || this.#stream.aborted) return
    this.isDone = true
    this.#receiver?.onBodyChunk(EMPTY, true, this.#trailers)
  }

  /** @internal */
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

/** Names and values in turn stand in the last argument, as for the event `stream`. */
function onTrailers(
  this: ServerHttp2Stream,
  _fields: object,
  _flags: number,
  list?: readonly string[],
): void {
  const body = (this as ReadStream)[BODY]
  body.onTrailers(list ?? [])
}
