/** Result of a use. */
export type ReplayVerdict = 'first' | 'replayed' | 'full'

/**
 * Remembers used keys as long as they could be used again. All entries live equally long, so the insertion order of
 * the map is their expiry order:
 *
 *     oldest ─► … ─► newest       expired entries are removed from the front
 *
 * Only authentic keys are added, so that attackers cannot fill the cache. If it is full of live entries, nothing is
 * evicted: the result is `full` and the caller refuses.
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
   * Extends the lifetime of entries. The longest requested one applies to all, because a policy with a longer
   * tolerance could accept what another has already seen.
   */
  widen(ttlMs: number): void {
    this.#ttlMs = Math.max(this.#ttlMs, ttlMs)
  }

  /** Lifetime of entries in milliseconds. */
  get ttlMs(): number {
    return this.#ttlMs
  }

  /** Records the use of a key. @param nowMs wall-clock time, because signatures expire by it. */
  use(key: string, nowMs: number): ReplayVerdict {
    this.#forget(nowMs)
    if (this.has(key, nowMs)) return 'replayed'
    if (this.#usedMs.size >= this.#max) return 'full'
    this.#usedMs.set(key, nowMs)
    return 'first'
  }

  /** Returns true if the key was used and its entry is still alive. */
  has(key: string, nowMs: number): boolean {
    const usedMs = this.#usedMs.get(key)
    return usedMs !== undefined && this.#isLiving(usedMs, nowMs)
  }

  /** Removes a key that was not used after all. */
  forget(key: string): void {
    this.#usedMs.delete(key)
  }

  /** Removes expired entries. After a clock step, an expired entry behind a live one is removed later. */
  #forget(nowMs: number): void {
    for (const [key, usedMs] of this.#usedMs) {
      if (this.#isLiving(usedMs, nowMs)) return
      this.#usedMs.delete(key)
    }
  }

  /** Signatures are still valid in the last millisecond of their lifetime. */
  #isLiving(usedMs: number, nowMs: number): boolean {
    return usedMs + this.#ttlMs >= nowMs
  }
}
