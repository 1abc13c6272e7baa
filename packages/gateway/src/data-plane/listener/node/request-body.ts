import { ChunkedBody } from '../../http1/chunked-body.js'
import { BROKEN, type MessageHead } from '../../http1/message-head.js'
import type { BodyReceiver } from '../listener.js'

const EMPTY = new Uint8Array(0)
const CHUNKED = -1

/** The body of one request after the other on a connection: finds its bytes among those that are read. */
export class RequestBody {
  isPaused = false
  isDone = true
  /** Null until somebody wants it. */
  receiver: BodyReceiver | null = null
  /** Bytes still to come; CHUNKED: nobody knows. */
  #left = 0
  readonly #chunked: ChunkedBody

  /** @param head reads trailers; free for it while there is a body. */
  constructor(head: MessageHead) {
    this.#chunked = new ChunkedBody(head)
  }

  /** @param length -1: in chunks. */
  begin(length: number): void {
    this.isPaused = false
    this.isDone = length === 0
    this.receiver = null
    this.#left = length
    if (length === CHUNKED) this.#chunked.begin()
  }

  /** Whether bytes can be given to somebody now. */
  get isWanted(): boolean {
    return this.receiver !== null && !this.isPaused
  }

  /** Hands on what of the body stands in these bytes. Answers the place behind it, or BROKEN. */
  read(bytes: Buffer, from: number, to: number): number {
    if (this.#left === CHUNKED) return this.#readChunks(bytes, from, to)
    const end = Math.min(to, from + this.#left)
    this.#left -= end - from
    this.isDone = this.#left === 0
    this.receiver!.onBodyChunk(bytes.subarray(from, end), this.isDone)
    return end
  }

  /** A chunk is held until it is known whether it is the last: a small body then comes in one piece. */
  #readChunks(bytes: Buffer, from: number, to: number): number {
    const chunked = this.#chunked
    let at = chunked.find(bytes, from, to)
    while (at >= 0 && chunked.available > 0) {
      const start = at
      const end = at + chunked.available
      at = chunked.find(bytes, end, to)
      if (at < 0) return BROKEN
      this.isDone = chunked.isDone
      this.receiver?.onBodyChunk(bytes.subarray(start, end), this.isDone, chunked.trailers)
    }
    if (at < 0) return BROKEN
    if (chunked.isDone && !this.isDone) {
      this.isDone = true
      this.receiver?.onBodyChunk(EMPTY, true, chunked.trailers)
    }
    return at
  }
}
