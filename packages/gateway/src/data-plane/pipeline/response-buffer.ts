/** Memory for all responses of a worker; the connections of those that find none left wait for their clients. */
const MAX_WORKER_BYTES = 64 * 1024 * 1024
/** Small chunks share a block: each by itself would cost many times its bytes. */
const BLOCK_BYTES = 16 * 1024

/** What the responses of this worker hold for slow clients. */
export const RESPONSE_MEMORY = { heldBytes: 0 }

/** The bytes of a response that its client has not taken yet, first in, first out, with the target's connection free. */
export class ResponseBuffer {
  readonly #maxBytes: number
  #blocks: Buffer[] = []
  #first = 0
  /** Bytes used of the last block. */
  #used = 0
  /** Bytes of all blocks, used or not. */
  #heldBytes = 0
  /** Bytes that wait. */
  size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** The target should be read no further. */
  get isFull(): boolean {
    return this.#heldBytes >= this.#maxBytes || RESPONSE_MEMORY.heldBytes >= MAX_WORKER_BYTES
  }

  /** There is room for more again. */
  get hasRoom(): boolean {
    return this.#heldBytes <= this.#maxBytes / 2 && RESPONSE_MEMORY.heldBytes < MAX_WORKER_BYTES
  }

  /** Takes a copy of the chunk. */
  add(chunk: Uint8Array): void {
    const last = this.size === 0 ? undefined : this.#blocks.at(-1)
    this.size += chunk.length
    if (last !== undefined && this.#used + chunk.length <= last.length) {
      last.set(chunk, this.#used)
      this.#used += chunk.length
      return
    }
    if (last !== undefined) this.#blocks[this.#blocks.length - 1] = last.subarray(0, this.#used)
    const block = Buffer.allocUnsafeSlow(Math.max(chunk.length, BLOCK_BYTES))
    block.set(chunk)
    this.#blocks.push(block)
    this.#used = chunk.length
    this.#hold(block.buffer.byteLength)
  }

  /** The next bytes. Only while it is not empty. */
  take(): Buffer {
    const block = this.#blocks[this.#first]!
    const isLast = ++this.#first === this.#blocks.length
    const bytes = isLast ? block.subarray(0, this.#used) : block
    this.size -= bytes.length
    this.#hold(-block.buffer.byteLength)
    if (isLast) this.#clear()
    return bytes
  }

  /** Gives up what is left. */
  close(): void {
    this.#hold(-this.#heldBytes)
    this.size = 0
    this.#clear()
  }

  #clear(): void {
    this.#blocks = []
    this.#first = 0
    this.#used = 0
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    RESPONSE_MEMORY.heldBytes += bytes
  }
}
