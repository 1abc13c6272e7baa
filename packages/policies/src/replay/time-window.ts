import { parseDuration } from '@sluice/core'

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
