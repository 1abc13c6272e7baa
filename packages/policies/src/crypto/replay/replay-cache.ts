/** What a look into the cache says. */
export type ReplayVerdict = 'first' | 'replayed' | 'full'

/**
 * Remembers what was used, for as long as it could be used again. All entries live equally long, so the map's order of
 * insertion is the order in which they end:
 *
 *     oldest ─► … ─► newest       taken from the front once their time has passed
 *
 * Only what was proven to be authentic is put in, so that strangers cannot fill it. When it is full of entries that still
 * live nothing is forgotten: `full` is an answer, and the caller refuses.
 */
export class ReplayCache {
  readonly #usedMs = new Map<string, number>()
  readonly #max: number
  #ttlMs: number

  constructor(max: number, ttlMs: number) {
    this.#max = max
    this.#ttlMs = ttlMs
  }

  /**
   * Has entries live for at least so long. The longest that anybody asks for holds for all: what came to a policy that
   * takes fresh messages only must not come again to one that takes older ones.
   */
  widen(ttlMs: number): void {
    this.#ttlMs = Math.max(this.#ttlMs, ttlMs)
  }

  /** How long what was used is remembered. */
  get ttlMs(): number {
    return this.#ttlMs
  }

  /** Notes the key unless it is there already. @param nowMs wall clock, because what expires does so by it. */
  use(key: string, nowMs: number): ReplayVerdict {
    this.#forget(nowMs)
    if (this.has(key, nowMs)) return 'replayed'
    if (this.#usedMs.size >= this.#max) return 'full'
    this.#usedMs.set(key, nowMs)
    return 'first'
  }

  /** Whether the key was used, and still counts. */
  has(key: string, nowMs: number): boolean {
    const usedMs = this.#usedMs.get(key)
    return usedMs !== undefined && this.#isLiving(usedMs, nowMs)
  }

  /** The key was not used after all. */
  forget(key: string): void {
    this.#usedMs.delete(key)
  }

  /** Clock steps can leave a passed entry behind a living one for a while; it is then only forgotten later. */
  #forget(nowMs: number): void {
    for (const [key, usedMs] of this.#usedMs) {
      if (this.#isLiving(usedMs, nowMs)) return
      this.#usedMs.delete(key)
    }
  }

  /** What is signed for a span of time is valid in its last millisecond, too. */
  #isLiving(usedMs: number, nowMs: number): boolean {
    return usedMs + this.#ttlMs >= nowMs
  }
}
