import { randomFillSync } from 'node:crypto'

const HEX2 = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const HEX3 = Array.from({ length: 4096 }, (_, value) => value.toString(16).padStart(3, '0'))

/**
 * Numbers are converted to hexadecimal in parts, because V8 converts numbers above 32 bits digit by digit in
 * floating point.
 */
const TWO_24 = 2 ** 24
/** Random bytes are generated for many IDs at once, because each call costs more than the bytes. */
const POOL_BYTES = 8 * 256
const ID_LENGTH = 36
const IDS_PER_MS = 4096
/** A slice keeps its whole block in memory, so blocks are small. */
const MAX_BLOCK = 16

/**
 * Generates UUIDv7 request IDs (RFC 9562 section 5.7): 48 bits of milliseconds, a 12-bit counter within the
 * millisecond, and 62 random bits that change every millisecond. After 4,096 IDs in one millisecond, the next
 * millisecond is used early (section 6.2). IDs from one generator are therefore unique and ordered. IDs of
 * two workers collide only if their 62 random bits do.
 */
export class RequestIds {
  #ms = -1
  #counter = 0
  /** IDs for the counters from `#blockStart` to `#blockEnd`. */
  #block = ''
  #blockStart = 0
  #blockEnd = 0
  #prefix = ''
  #suffix = ''
  readonly #random = new Uint8Array(POOL_BYTES)
  #used = POOL_BYTES

  /** Returns the next ID. @param nowMs Wall-clock time in milliseconds since the epoch. */
  next(nowMs: number): string {
    const isNewMs = nowMs >= this.#ms + 1
    if (isNewMs || this.#counter === IDS_PER_MS) this.#renew(isNewMs ? Math.floor(nowMs) : this.#ms + 1)
    if (this.#counter === this.#blockEnd) this.#fill()
    const at = ID_LENGTH * (this.#counter++ - this.#blockStart)
    return this.#block.substring(at, at + ID_LENGTH)
  }

  /**
   * Makes the next IDs as slices of one string. V8 would join the parts of a single ID when it is first read, which
   * costs 1 µs. A block has as many IDs as the millisecond has needed so far.
   */
  #fill(): void {
    const count = Math.min(MAX_BLOCK, Math.max(1, this.#counter))
    this.#blockStart = this.#counter
    this.#blockEnd = Math.min(IDS_PER_MS, this.#counter + count)
    let block = ''
    for (let i = this.#blockStart; i < this.#blockEnd; i++) block += this.#prefix + HEX3[i]! + this.#suffix
    this.#block = block
  }

  #renew(ms: number): void {
    const low = ms % TWO_24
    const high = (ms - low) / TWO_24
    const middle = HEX3[low >> 12]!
    this.#prefix = `${HEX3[high >> 12]!}${HEX3[high & 0xfff]!}${middle.slice(0, 2)}-${middle[2]!}${HEX3[low & 0xfff]!}-7`
    this.#ms = ms
    this.#counter = 0
    this.#blockEnd = 0
    const variant = HEX2[(this.#randomByte() & 0x3f) | 0x80]!
    this.#suffix = `-${variant}${this.#randomHex(1)}-${this.#randomHex(6)}`
  }

  #randomHex(bytes: number): string {
    let hex = ''
    for (let i = 0; i < bytes; i++) hex += HEX2[this.#randomByte()]!
    return hex
  }

  #randomByte(): number {
    if (this.#used === POOL_BYTES) {
      randomFillSync(this.#random)
      this.#used = 0
    }
    return this.#random[this.#used++]!
  }
}
