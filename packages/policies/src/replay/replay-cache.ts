/** What a look into the cache says. */
export type ReplayVerdict = 'first' | 'replayed' | 'full'

/**
 * Remembers what was used, for as long as it could be used again. All entries live equally long, so the map's order of
 * insertion is the order in which they end:
 *
 *     oldest ─► … ─► newest       taken from the front once their time has passed
 *
 * When it is full of entries that still live nothing is forgotten: `full` is an answer, and the caller refuses.
 */
export class ReplayCache {
  readonly #endOf = new Map<string, number>()
  readonly #max: number
  readonly #ttlMs: number

  constructor(max: number, ttlMs: number) {
    this.#max = max
    this.#ttlMs = ttlMs
  }

  /** Notes the key unless it is there already. @param nowMs wall clock, because what expires does so by it. */
  use(key: string, nowMs: number): ReplayVerdict {
    this.#forget(nowMs)
    const end = this.#endOf.get(key)
    if (end !== undefined && end >= nowMs) return 'replayed'
    if (this.#endOf.size >= this.#max) return 'full'
    this.#endOf.set(key, nowMs + this.#ttlMs)
    return 'first'
  }

  /** Clock steps can leave a passed entry behind a living one for a while; it is then only forgotten later. */
  #forget(nowMs: number): void {
    for (const [key, end] of this.#endOf) {
      // What is signed for a span of time is valid in its last millisecond, too.
      if (end >= nowMs) return
      this.#endOf.delete(key)
    }
  }
}
