import { performance } from 'node:perf_hooks'

/**
 * The monotonic clock, ms, for the deadlines of a worker. What happens in one go, such as the requests of a write batch,
 * shares one reading: its deadlines need none of their own, each of which costs as much as the deadline. The reading is
 * dropped in any case, because one that stayed would let deadlines fall due early.
 */
export class CachedClock {
  /** As it was read last; 0 where the next reading is to be a new one. */
  #cachedMono = 0

  /** Reads the clock, and keeps what it says until `drop`. */
  read(): number {
    this.#cachedMono = performance.now()
    return this.#cachedMono
  }

  drop(): void {
    this.#cachedMono = 0
  }

  /** The cached reading, or a new one where there is none. */
  now(): number {
    return this.#cachedMono === 0 ? performance.now() : this.#cachedMono
  }
}
