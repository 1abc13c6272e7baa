/** Longer heads are parsed each time, which bounds the memory. */
const MAX_BYTES = 1024
/** A slot is written to so many times in a row without a hit; from then on once in each round of its counter. */
const MAX_MISSES = 8

/** A head with all that was made of it. */
export interface CachedHead {
  /** With the empty line at its end. */
  readonly bytes: Buffer
}

/**
 * The heads that came last from one side: bytes that are those of one of them need not be read again. Messages of one kind
 * are mostly read in pieces of one size, so the size names the slot.
 */
export class HeadCache<Head extends CachedHead> {
  readonly #heads: (Head | null)[]
  readonly #misses: Uint8Array

  /** @param slots a power of two. */
  constructor(slots: number) {
    this.#heads = new Array<Head | null>(slots).fill(null)
    this.#misses = new Uint8Array(slots)
  }

  /** The head that stands at the beginning of what was read; null when it is not in the cache. */
  find(bytes: Buffer, from: number, to: number): Head | null {
    const slot = this.#slotOf(to - from)
    const cached = this.#heads[slot]!
    if (cached === null || cached.bytes.length > to - from) return null
    if (cached.bytes.compare(bytes, from, from + cached.bytes.length) !== 0) return null
    this.#misses[slot] = 0
    return cached
  }

  /**
   * Keeps a head that was read whole.
   * @param size of what was read, the head and whatever came with it.
   */
  keep(size: number, head: Head): void {
    if (this.wants(size, head.bytes)) this.put(size, head)
  }

  /** Whether a head should be kept, for those who make something of it first; to be asked once for each. */
  wants(size: number, bytes: Buffer): boolean {
    return bytes.length <= MAX_BYTES && this.#isWorthKeeping(this.#slotOf(size))
  }

  /** Keeps a head that is wanted. */
  put(size: number, head: Head): void {
    this.#heads[this.#slotOf(size)] = { ...head, bytes: Buffer.from(head.bytes) }
  }

  clear(): void {
    this.#heads.fill(null)
    this.#misses.fill(0)
  }

  #slotOf(size: number): number {
    return size & (this.#heads.length - 1)
  }

  /** A slot that misses time and again sees what is different in every message: writing to it each time would cost more. */
  #isWorthKeeping(slot: number): boolean {
    const count = (this.#misses[slot]! + 1) & 0xff
    this.#misses[slot] = count === 0 ? MAX_MISSES : count
    return count <= MAX_MISSES
  }
}
