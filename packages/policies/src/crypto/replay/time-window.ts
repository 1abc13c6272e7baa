import { performance } from 'node:perf_hooks'
import { type Exchange, parseDuration } from '@sluice/core'

/** Maximum age of a signature, and maximum clock skew into the future. */
export class TimeWindow {
  readonly #toleranceMs: number
  readonly #skewMs: number

  constructor(tolerance: string, clockSkew: string) {
    this.#toleranceMs = parseDuration(tolerance)
    this.#skewMs = parseDuration(clockSkew)
  }

  /** Maximum time for which one signature is acceptable, in milliseconds. */
  get lengthMs(): number {
    return this.#toleranceMs + this.#skewMs
  }

  has(signedMs: number, nowMs: number): boolean {
    return signedMs >= nowMs - this.#toleranceMs && signedMs <= nowMs + this.#skewMs
  }
}

/**
 * Returns the current wall-clock time of an exchange. A signature must be timely when it is used. Otherwise a slow
 * body could delay its use until its replay entry has expired.
 */
export function wallClockNow(x: Exchange): number {
  return x.startedAt + Math.max(0, performance.now() - x.startedMono)
}
