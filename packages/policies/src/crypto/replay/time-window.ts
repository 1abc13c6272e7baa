import { performance } from 'node:perf_hooks'
import { type Exchange, parseDuration } from '@sluice/core'

/** How old a signature may be, and how far ahead its clock. */
export class TimeWindow {
  readonly #toleranceMs: number
  readonly #skewMs: number

  constructor(tolerance: string, clockSkew: string) {
    this.#toleranceMs = parseDuration(tolerance)
    this.#skewMs = parseDuration(clockSkew)
  }

  /** The longest time that one signature can be accepted. */
  get lengthMs(): number {
    return this.#toleranceMs + this.#skewMs
  }

  has(signedMs: number, nowMs: number): boolean {
    return signedMs >= nowMs - this.#toleranceMs && signedMs <= nowMs + this.#skewMs
  }
}

/**
 * Wall clock now, by the exchange's own clocks. What is used once has to be timely when it is used: a body that comes
 * slowly would else carry its signature past the time for which others like it are remembered.
 */
export function wallClockNow(x: Exchange): number {
  return x.startedAt + Math.max(0, performance.now() - x.startedMono)
}
