/** Memory limit for the buffered responses of a worker. Beyond it, target connections wait for their clients. */
const MAX_WORKER_BYTES = 64 * 1024 * 1024
/** Size of a block shared by small chunks. Separate allocations would cost many times their bytes. */
const BLOCK_BYTES = 16 * 1024

/** Bytes that this worker holds for slow clients. */
export const RESPONSE_MEMORY = { heldBytes: 0 }

/** First-in, first-out buffer for the bytes that a client has not accepted. It frees the target's connection. */
export class ResponseBuffer {
  readonly #maxBytes: number
  #blocks: Buffer[] = []
  #first = 0
  /** Bytes used in the last block. */
  #used = 0
  /** Bytes allocated for all blocks, used or not. */
  #heldBytes = 0
  /** Number of buffered bytes. */
  size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** True if reading from the target should stop. */
  get isFull(): boolean {
    return this.#heldBytes >= this.#maxBytes || RESPONSE_MEMORY.heldBytes >= MAX_WORKER_BYTES
  }

  /** True if there is room for more. */
  get hasRoom(): boolean {
    return this.#heldBytes <= this.#maxBytes / 2 && RESPONSE_MEMORY.heldBytes < MAX_WORKER_BYTES
  }

  /** Adds a copy of the chunk. */
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

  /** Removes and returns the next bytes. The buffer must not be empty. */
  take(): Buffer {
    const block = this.#blocks[this.#first]!
    const isLast = ++this.#first === this.#blocks.length
    const bytes = isLast ? block.subarray(0, this.#used) : block
    this.size -= bytes.length
    this.#hold(-block.buffer.byteLength)
    if (isLast) this.#clear()
    return bytes
  }

  /** Discards the rest. */
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
