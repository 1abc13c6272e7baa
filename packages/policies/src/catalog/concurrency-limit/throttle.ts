/** How often the event loop is looked at. */
export const LOOK_MS = 100
/** What is left of the share after a look that found it late. */
const LOWERED = 0.75
const RAISED_BY = 0.05
/** The smallest share: even a loop that is always late recovers within seconds. */
const LEAST = 0.01

/** The share of the limit that the worker can bear: it falls fast while the event loop is late, and rises slowly. */
export class Throttle {
  /** Between 0 and 1. */
  share = 1
  readonly min: number
  readonly #lagMs: number
  #lookedMono: number

  constructor(lagMs: number, min: number, nowMono: number) {
    this.#lagMs = lagMs
    this.min = min
    this.#lookedMono = nowMono
  }

  /** Called by a timer every LOOK_MS; what is more was delay. */
  look(nowMono: number): void {
    const lateMs = nowMono - this.#lookedMono - LOOK_MS
    this.#lookedMono = nowMono
    this.share =
      lateMs > this.#lagMs ? Math.max(LEAST, this.share * LOWERED) : Math.min(1, this.share + RAISED_BY)
  }
}
