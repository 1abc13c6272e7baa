/** Interval of the event loop checks in milliseconds. */
export const CHECK_INTERVAL_MS = 100
/** Factor applied to the share after a check that was late. */
const DECREASE_FACTOR = 0.75
const INCREASE_STEP = 0.05
/** Minimum share, so that a worker recovers within seconds even after a long overload. */
const MIN_SHARE = 0.01

/** Share of the limit that applies now. It falls quickly while the event loop is late, and rises slowly. */
export class Throttle {
  /** Share between 0 and 1. */
  share = 1
  readonly min: number
  readonly #lagMs: number
  #checkedMono: number

  constructor(lagMs: number, min: number, nowMono: number) {
    this.#lagMs = lagMs
    this.min = min
    this.#checkedMono = nowMono
  }

  /** Measures the delay. Called by a timer every CHECK_INTERVAL_MS milliseconds. */
  check(nowMono: number): void {
    const lateMs = nowMono - this.#checkedMono - CHECK_INTERVAL_MS
    this.#checkedMono = nowMono
    this.share =
      lateMs > this.#lagMs
        ? Math.max(MIN_SHARE, this.share * DECREASE_FACTOR)
        : Math.min(1, this.share + INCREASE_STEP)
  }
}
