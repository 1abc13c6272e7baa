import { ChunkedBody } from '../../../protocol/http1/chunked-body.js'
import { BROKEN, type MessageHead } from '../../../protocol/http1/message-head.js'
import type { BodyReceiver } from '../../listener.js'

const EMPTY = new Uint8Array(0)
const CHUNKED = -1

/** Parser for the request bodies of a connection, one at a time. */
export class RequestBody {
  isPaused = false
  isDone = true
  /** Receiver of the body, or null until there is one. */
  receiver: BodyReceiver | null = null
  /** Bytes still to come, or CHUNKED if unknown. */
  #left = 0
  readonly #chunked: ChunkedBody

  /** @param head parser for trailers. It is free for reuse while there is a body. */
  constructor(head: MessageHead) {
    this.#chunked = new ChunkedBody(head)
  }

  /** Starts the next body. @param length Content-Length, or -1 for a chunked body. */
  begin(length: number): void {
    this.isPaused = false
    this.isDone = length === 0
    this.receiver = null
    this.#left = length
    if (length === CHUNKED) this.#chunked.begin()
  }

  /** True if the receiver is ready for bytes. */
  get isWanted(): boolean {
    return this.receiver !== null && !this.isPaused
  }

  /** Delivers the body bytes among those given. Returns the position after them, or BROKEN. */
  read(bytes: Buffer, from: number, to: number): number {
    if (this.#left === CHUNKED) return this.#readChunks(bytes, from, to)
    const end = Math.min(to, from + this.#left)
    this.#left -= end - from
    this.isDone = this.#left === 0
    this.receiver!.onBodyChunk(bytes.subarray(from, end), this.isDone)
    return end
  }

  /** Delivers each chunk only once it is known if it is the last one, so that a small body arrives in one piece. */
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
