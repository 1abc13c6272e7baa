/** Values remembered; more than this many within their time are more messages than one process answers. */
const MAX_VALUES = 200_000

/** How the second sight of a value, or one too many, is told. */
export type Sighting = 'first' | 'again' | 'full'

/**
 * Remembers what must not come twice. Only what was proven to be authentic is put in, so that strangers cannot fill
 * it; when it is full of values that still count, the next one is refused rather than an old one forgotten.
 */
export class ReplayMemory {
  /** In the order of their arrival, with the moment until which each counts. */
  readonly #until = new Map<string, number>()
  readonly #max: number

  constructor(max = MAX_VALUES) {
    this.#max = max
  }

  see(value: string, untilMs: number, nowMs: number): Sighting {
    this.#forget(nowMs)
    const known = this.#until.get(value)
    if (known !== undefined && known >= nowMs) return 'again'
    if (known === undefined && this.#until.size >= this.#max) return 'full'
    this.#until.delete(value)
    this.#until.set(value, untilMs)
    return 'first'
  }

  /** The oldest first: each call takes away what has ended at the front, which is everything soon. */
  #forget(nowMs: number): void {
    for (const [value, untilMs] of this.#until) {
      if (untilMs >= nowMs) return
      this.#until.delete(value)
    }
  }
}
