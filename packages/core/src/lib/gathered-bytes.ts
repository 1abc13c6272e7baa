/** Chunks below this share blocks: each by itself would cost many times its bytes. */
const SMALL_BYTES = 1024
const BLOCK_BYTES = 16 * 1024
const NO_BLOCK = Buffer.alloc(0)

/** Copies chunks and makes one buffer of them. What it holds is little more than their bytes, however small they are. */
export class GatheredBytes {
  readonly #parts: Buffer[] = []
  /** Room for small chunks, of which the first bytes are used. */
  #block: Buffer = NO_BLOCK
  #used = 0
  size = 0

  add(chunk: Uint8Array): void {
    this.size += chunk.length
    // Most bodies come in one piece, which needs no block.
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

  whole(): Buffer {
    this.#seal()
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
  }

  get #isEmpty(): boolean {
    return this.#parts.length === 0 && this.#used === 0
  }

  /** What is used of the block is a part; the rest goes on being the block. */
  #seal(): void {
    if (this.#used === 0) return
    this.#parts.push(this.#block.subarray(0, this.#used))
    this.#block = this.#block.subarray(this.#used)
    this.#used = 0
  }
}
