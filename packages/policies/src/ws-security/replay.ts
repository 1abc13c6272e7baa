/** Values remembered; more than this many within their time are more messages than one process answers. */
const MAX_VALUES = 200_000

/** How the second sight of a value, or one too many, is told. */
export type Sighting = 'first' | 'again' | 'full'

/**
 * Remembers what must not come twice. Only what was proven to be authentic is put in, so that strangers cannot fill
 * it; when it is full of values that still count, the next one is refused rather than an old one forgotten.
 */
export class ReplayMemory {
  /** In the order of their arrival, with the moment of it. */
  readonly #seenMs = new Map<string, number>()
  readonly #max: number
  #windowMs = 0

  constructor(max = MAX_VALUES) {
    this.#max = max
  }

  /**
   * Has values count for at least so long. The longest that anybody asks for holds for all: what came to a policy that
   * takes fresh messages only must not come again to one that takes older ones.
   */
  widen(windowMs: number): void {
    this.#windowMs = Math.max(this.#windowMs, windowMs)
  }

  see(value: string, nowMs: number): Sighting {
    this.#forget(nowMs)
    if (this.#seenMs.has(value)) return 'again'
    if (this.#seenMs.size >= this.#max) return 'full'
    this.#seenMs.set(value, nowMs)
    return 'first'
  }

  /** The oldest first: each call takes away what has ended, which stands at the front. */
  #forget(nowMs: number): void {
    for (const [value, seenMs] of this.#seenMs) {
      if (seenMs + this.#windowMs >= nowMs) return
      this.#seenMs.delete(value)
    }
  }
}
