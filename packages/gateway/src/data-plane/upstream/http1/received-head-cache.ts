import type { ReceivedHead } from '../received-head.js'
import type { ResponseFraming } from './response-framing.js'

/** Longer heads are parsed each time, which bounds the memory. */
const MAX_BYTES = 1024
const SLOTS = 8

/** A head with all that was made of it. */
export interface CachedHead {
  /** With the empty line at its end. */
  readonly bytes: Buffer
  readonly head: ReceivedHead
  readonly framing: ResponseFraming
}

/**
 * The heads that a target sent last: bytes that are those of one of them need not be read again. Responses of one kind
 * are mostly read in pieces of one size, so the size names the slot.
 */
export class ReceivedHeadCache {
  readonly #heads: (CachedHead | null)[] = new Array<CachedHead | null>(SLOTS).fill(null)

  /** The head that stands at the beginning of what was read; null when it is not in the cache. */
  find(bytes: Buffer, from: number, to: number): CachedHead | null {
    const cached = this.#heads[slotOf(to - from)]!
    if (cached === null || cached.bytes.length > to - from) return null
    return cached.bytes.compare(bytes, from, from + cached.bytes.length) === 0 ? cached : null
  }

  /**
   * Keeps a head that was read whole.
   * @param size of what was read, the head and whatever came with it.
   */
  keep(size: number, { bytes, head, framing }: CachedHead): void {
    if (bytes.length > MAX_BYTES) return
    this.#heads[slotOf(size)] = { bytes: Buffer.from(bytes), head, framing }
  }
}

function slotOf(size: number): number {
  return size & (SLOTS - 1)
}
