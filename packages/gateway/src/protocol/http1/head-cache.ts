/** Maximum size of a cached head. Longer heads are parsed each time, which bounds the memory. */
const MAX_BYTES = 1024
/** Number of consecutive misses after which a slot is rewritten only once per 256 misses. */
const MAX_MISSES = 8

/** A message head together with its parsed form. */
export interface CachedHead {
  /** Bytes of the head, including the empty line at its end. */
  readonly bytes: Buffer
}

/**
 * Cache of the most recent heads from one side, so that an identical head is not parsed again. Similar messages usually
 * arrive in reads of the same size, so the size of the read selects the slot.
 */
export class HeadCache<Head extends CachedHead> {
  readonly #heads: (Head | null)[]
  readonly #misses: Uint8Array

  /** @param slots number of slots; a power of two. */
  constructor(slots: number) {
    this.#heads = new Array<Head | null>(slots).fill(null)
    this.#misses = new Uint8Array(slots)
  }

  /** Returns the cached head that these bytes start with, or null. */
  find(bytes: Buffer, from: number, to: number): Head | null {
    const slot = this.#slotOf(to - from)
    const cached = this.#heads[slot]!
    if (cached === null || cached.bytes.length > to - from) return null
    if (cached.bytes.compare(bytes, from, from + cached.bytes.length) !== 0) return null
    this.#misses[slot] = 0
    return cached
  }

  /**
   * Stores a complete head if its slot is worth updating.
   * @param size size of the whole read, including any bytes after the head.
   */
  keep(size: number, head: Head): void {
    if (this.wants(size, head.bytes)) this.put(size, head)
  }

  /**
   * Returns true if the head should be cached. It updates the miss count, so call it once per head. Use it with `put`
   * when the value is expensive to build.
   */
  wants(size: number, bytes: Buffer): boolean {
    return bytes.length <= MAX_BYTES && this.#isWorthKeeping(this.#slotOf(size))
  }

  /** Stores a head for which `wants` returned true. */
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

  /**
   * A slot that keeps missing sees different heads each time. Writing to it on every miss would cost more than it
   * saves.
   */
  #isWorthKeeping(slot: number): boolean {
    const count = (this.#misses[slot]! + 1) & 0xff
    this.#misses[slot] = count === 0 ? MAX_MISSES : count
    return count <= MAX_MISSES
  }
}
