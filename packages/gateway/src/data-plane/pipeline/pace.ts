import { performance } from 'node:perf_hooks'

/**
 * The next deadline of a client that has moved so many bytes, on the monotonic clock. It moves on by the time that they
 * take at the minimum rate, and never further than a whole `idleMs` from now: a client that pauses, or stays below the
 * rate, uses up that credit.
 *
 * @param rate bytes a second; 0: any rate will do.
 */
export function paceDeadline(dueAt: number, bytes: number, rate: number, idleMs: number): number {
  const latest = performance.now() + idleMs
  return rate === 0 ? latest : Math.min(latest, dueAt + (bytes * 1000) / rate)
}
