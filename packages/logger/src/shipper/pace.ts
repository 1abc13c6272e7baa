/** Deliveries under way at once, at most. */
const MAX_CONCURRENCY = 4
/** Records of one delivery, at most; a segment holds about as many. */
const MAX_RECORDS = 5000
/** An output that takes so long for one delivery has enough to do, ms. */
const SLOW_MS = 5000
/** A delivery that went well lets the next ones be so much larger. */
const GROWTH = 1.1

/**
 * How much an output gets at once. It grows a little with every delivery that goes well and is halved when the output
 * has too much: additive increase, multiplicative decrease, as TCP does it (Chiu and Jain 1989).
 */
export class Pace {
  #concurrency = 1
  #records = MAX_RECORDS

  /** Deliveries that may be under way. */
  get concurrency(): number {
    return Math.floor(this.#concurrency)
  }

  /** Records that one delivery may hold. */
  get records(): number {
    return Math.floor(this.#records)
  }

  delivered(durationMs: number): void {
    if (durationMs > SLOW_MS) {
      this.overloaded()
      return
    }
    this.#concurrency = Math.min(MAX_CONCURRENCY, this.#concurrency + 1 / this.#concurrency)
    this.#records = Math.min(MAX_RECORDS, this.#records * GROWTH + 1)
  }

  overloaded(): void {
    this.#concurrency = Math.max(1, this.#concurrency / 2)
    this.#records = Math.max(1, this.#records / 2)
  }

  /** A delivery of so many records was too large. */
  tooLarge(records: number): void {
    this.#records = Math.max(1, Math.min(this.#records, records) / 2)
  }
}
