import type { FrameWriter } from './frame-writer.js'
import { FRAME } from './frames.js'

const EMPTY = new Uint8Array(0)
/** Number of waiting chunks at which they are joined. */
const MAX_PIECES = 256

/** Receiver of a body. */
export interface IncomingBodyReceiver {
  /** @param chunk bytes, which are valid only during the call. */
  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers?: readonly string[] | null): void
}

/**
 * A received body on an HTTP/2 stream. While it is paused, the peer can send only up to the stream's window, because
 * the window grows only when data is delivered (RFC 9113 section 5.2).
 */
export class IncomingBody {
  /** True once the peer has sent its whole message. */
  isReceived = false
  /** Bytes that wait for the receiver. */
  waitingBytes = 0
  readonly #writer: FrameWriter
  readonly #stream: number
  readonly #windowBytes: number
  /** Bytes that the peer may send. */
  #window: number
  /** Bytes delivered since the last WINDOW_UPDATE. */
  #delivered = 0
  #receiver: IncomingBodyReceiver | null = null
  #trailers: readonly string[] | null = null
  /** Data that waits for the receiver. */
  #waiting: Buffer[] = []
  #hasEnded = false
  #isPaused = false
  #isDiscarded = false

  constructor(writer: FrameWriter, stream: number, windowBytes: number) {
    this.#writer = writer
    this.#stream = stream
    this.#windowBytes = windowBytes
    this.#window = windowBytes
  }

  /** Maximum number of bytes that may still arrive without a further WINDOW_UPDATE. */
  get lateBytes(): number {
    return this.isReceived ? 0 : Math.max(0, this.#window)
  }

  read(receiver: IncomingBodyReceiver): void {
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

  /** Counts a DATA frame, with its padding. Returns false if it exceeds the window of the stream. */
  accepts(size: number, isEnd: boolean): boolean {
    this.#window -= size
    this.isReceived = isEnd
    return this.#window >= 0
  }

  /** Handles the data of a frame, which is valid only during the call. @param size size with padding. */
  onData(data: Buffer, size: number): void {
    this.#release(size - data.length)
    if (this.#isDiscarded || data.length === 0) return
    if (this.#receiver !== null && !this.#isPaused && this.#waiting.length === 0) this.#hand(data)
    else {
      this.waitingBytes += data.length
      this.#waiting.push(Buffer.from(data))
      // Otherwise, a peer could send single bytes, and each would use the memory of a whole buffer.
      if (this.#waiting.length > MAX_PIECES) this.#waiting = [Buffer.concat(this.#waiting)]
    }
  }

  /** Handles the end of the body. */
  onEnd(trailers: readonly string[] | null): void {
    this.isReceived = true
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
    this.#release(data.length)
    this.#receiver!.onBodyChunk(data, false)
  }

  /** Allows the peer to send more once half of the window is used. */
  #release(bytes: number): void {
    this.#delivered += bytes
    if (this.#delivered < this.#windowBytes / 2 || this.isReceived || this.#isDiscarded) return
    this.#writer.numbers(FRAME.windowUpdate, 0, this.#stream, this.#delivered)
    this.#window += this.#delivered
    this.#delivered = 0
  }
}
