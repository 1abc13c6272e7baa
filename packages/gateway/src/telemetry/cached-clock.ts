import { performance } from 'node:perf_hooks'

/** The monotonic clock as it was read last, ms; 0 where the next reading is to be a new one. */
let cachedMono = 0

/**
 * What happens in one go, such as the requests of a write batch, shares one reading: its deadlines need none of their own,
 * each of which costs as much as the deadline. The reading is dropped in any case, because one that stayed would let
 * deadlines fall due early.
 */
export function cacheClock(): number {
  cachedMono = performance.now()
  return cachedMono
}

export function dropCachedClock(): void {
  cachedMono = 0
}

/** The clock for deadlines, ms: the cached one, or read now where there is none. */
export function deadlineMono(): number {
  return cachedMono === 0 ? performance.now() : cachedMono
}
