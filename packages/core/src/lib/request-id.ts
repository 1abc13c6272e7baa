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

/**
 * Generates UUIDv7 request IDs (RFC 9562 section 5.7): 48 bits of milliseconds, a 12-bit counter within the
 * millisecond, and 62 random bits that change every millisecond. After 4,096 IDs in one millisecond, the next
 * millisecond is used early (section 6.2). IDs from one generator are therefore unique and ordered. IDs of
 * two workers collide only if their 62 random bits do.
 */
export class RequestIds {
  #ms = -1
  #counter = 0
  #prefix = ''
  #suffix = ''
  readonly #random = new Uint8Array(POOL_BYTES)
  #used = POOL_BYTES

  /** Returns the next ID. @param nowMs Wall-clock time in milliseconds since the epoch. */
  next(nowMs: number): string {
    const isNewMs = nowMs >= this.#ms + 1
    if (isNewMs || this.#counter === 4096) this.#renew(isNewMs ? Math.floor(nowMs) : this.#ms + 1)
    return this.#prefix + HEX3[this.#counter++]! + this.#suffix
  }

  #renew(ms: number): void {
    const low = ms % TWO_24
    const high = (ms - low) / TWO_24
    const middle = HEX3[low >> 12]!
    this.#prefix = `${HEX3[high >> 12]!}${HEX3[high & 0xfff]!}${middle.slice(0, 2)}-${middle[2]!}${HEX3[low & 0xfff]!}-7`
    this.#ms = ms
    this.#counter = 0
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
