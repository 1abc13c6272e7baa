import type { BodyReceiver } from '../../listener.js'

const EMPTY = new Uint8Array(0)
/** Flow-control window of a stream in bytes, which bounds an upload that is not read. */
export const STREAM_WINDOW = 128 * 1024
/** Number of waiting pieces after which they are joined. */
const MAX_PIECES = 256

/**
 * The request body on an HTTP/2 stream. While it is paused, the client can send only up to the stream's window, because
 * the window grows only when data is delivered (RFC 9113 section 5.2).
 */
export class RequestBody {
  readonly #onDelivered: (bytes: number) => void
  #receiver: BodyReceiver | null = null
  #trailers: readonly string[] | null = null
  /** Data that waits for the receiver. */
  #waiting: Buffer[] = []
  /** Number of bytes that wait for the receiver. */
  waitingBytes = 0
  #hasEnded = false
  #isPaused = false
  #isDiscarded = false

  /** @param onDelivered called when the client may send as many more bytes. */
  constructor(onDelivered: (bytes: number) => void) {
    this.#onDelivered = onDelivered
  }

  read(receiver: BodyReceiver): void {
    if (this.#isDiscarded) return
    this.#receiver = receiver
    this.#deliver()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#deliver()
  }

  /** Stops delivery. Further data is dropped. */
  discard(): void {
    this.#receiver = null
    this.#isDiscarded = true
    this.#waiting = []
    this.waitingBytes = 0
  }

  /** Handles data, which is valid only during the call. */
  onData(data: Buffer): void {
    if (this.#isDiscarded || data.length === 0) return
    if (this.#receiver !== null && !this.#isPaused && this.#waiting.length === 0) this.#hand(data)
    else {
      this.#waiting.push(Buffer.from(data))
      this.waitingBytes += data.length
      // Otherwise a client could send each byte alone, and each would take the memory of a buffer.
      if (this.#waiting.length > MAX_PIECES) this.#waiting = [Buffer.concat(this.#waiting)]
    }
  }

  /** Handles the end of the body. */
  onEnd(trailers: readonly string[] | null): void {
    this.#hasEnded = true
    this.#trailers = trailers
    this.#deliver()
  }

  #deliver(): void {
    while (this.#waiting.length > 0 && this.#receiver !== null && !this.#isPaused) {
      const data = this.#waiting.shift()!
      this.waitingBytes -= data.length
      this.#hand(data)
    }
    if (!this.#hasEnded || this.#waiting.length > 0 || this.#isPaused) return
    const receiver = this.#receiver
    this.#receiver = null
    receiver?.onBodyChunk(EMPTY, true, this.#trailers)
  }

  #hand(data: Buffer): void {
    this.#onDelivered(data.length)
    this.#receiver!.onBodyChunk(data, false)
  }
}
