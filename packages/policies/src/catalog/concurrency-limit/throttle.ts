/** Interval of the event loop checks in milliseconds. */
export const LOOK_MS = 100
/** Factor applied to the share after a check that was late. */
const LOWERED = 0.75
const RAISED_BY = 0.05
/** Minimum share, so that a worker recovers within seconds even after a long overload. */
const LEAST = 0.01

/** Share of the limit that applies now. It falls quickly while the event loop is late, and rises slowly. */
export class Throttle {
  /** Share between 0 and 1. */
  share = 1
  readonly min: number
  readonly #lagMs: number
  #lookedMono: number

  constructor(lagMs: number, min: number, nowMono: number) {
    this.#lagMs = lagMs
    this.min = min
    this.#lookedMono = nowMono
  }

  /** Measures the delay. Called by a timer every LOOK_MS milliseconds. */
  look(nowMono: number): void {
    const lateMs = nowMono - this.#lookedMono - LOOK_MS
    this.#lookedMono = nowMono
    this.share =
      lateMs > this.#lagMs ? Math.max(LEAST, this.share * LOWERED) : Math.min(1, this.share + RAISED_BY)
  }
}
