import { performance } from 'node:perf_hooks'

/**
 * Monotonic clock in milliseconds for a worker's deadlines. Work done in one batch, such as the requests of one write
 * batch, shares one reading, because reading the clock costs as much as setting the deadline. The reading must be
 * dropped after the batch: with a stale one, deadlines would fire early.
 */
export class CachedClock {
  /** Cached reading, or 0 if the next call must read the clock. */
  #cachedMono = 0

  /** Reads the clock and caches the reading until `drop`. */
  read(): number {
    this.#cachedMono = performance.now()
    return this.#cachedMono
  }

  drop(): void {
    this.#cachedMono = 0
  }

  /** Returns the cached reading, or reads the clock if there is none. */
  now(): number {
    return this.#cachedMono === 0 ? performance.now() : this.#cachedMono
  }
}
