import { performance } from 'node:perf_hooks'

/**
 * Returns the next deadline of a client that has transferred some bytes, on the monotonic clock. The deadline advances
 * by the time that the bytes take at the minimum rate, up to `idleMs` from now. A client that pauses, or stays below
 * the rate, uses up this credit.
 *
 * @param rate minimum bytes per second; 0 for no minimum.
 */
export function paceDeadline(dueAt: number, bytes: number, rate: number, idleMs: number): number {
  const latest = performance.now() + idleMs
  return rate === 0 ? latest : Math.min(latest, dueAt + (bytes * 1000) / rate)
}
