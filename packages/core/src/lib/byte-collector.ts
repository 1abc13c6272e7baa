/** Chunks smaller than this share a block, because a separate buffer costs many times their size. */
const SMALL_BYTES = 1024
const BLOCK_BYTES = 16 * 1024
const NO_BLOCK = Buffer.alloc(0)

/**
 * Copies chunks and joins them into one buffer. Memory use stays close to the number of bytes, however small
 * the chunks are.
 */
export class ByteCollector {
  readonly #parts: Buffer[] = []
  /** Block for small chunks. The first `#used` bytes are taken. */
  #block: Buffer = NO_BLOCK
  #used = 0
  size = 0

  add(chunk: Uint8Array): void {
    this.size += chunk.length
    // Most bodies consist of a single chunk and need no block.
    if (chunk.length >= SMALL_BYTES || this.#isEmpty) {
      this.#seal()
      this.#parts.push(Buffer.from(chunk))
      return
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#seal()
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    }
    this.#block.set(chunk, this.#used)
    this.#used += chunk.length
  }

  toBuffer(): Buffer {
    this.#seal()
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
  }

  get #isEmpty(): boolean {
    return this.#parts.length === 0 && this.#used === 0
  }

  /** Moves the used part of the block to the parts. The rest remains the current block. */
  #seal(): void {
    if (this.#used === 0) return
    this.#parts.push(this.#block.subarray(0, this.#used))
    this.#block = this.#block.subarray(this.#used)
    this.#used = 0
  }
}
