/** Maximum number of concurrent deliveries. */
const MAX_CONCURRENCY = 4
/** Maximum number of records per delivery, about as many as in a segment. */
const MAX_RECORDS = 5000
/** Delivery duration in milliseconds from which an output counts as overloaded. */
const SLOW_MS = 5000
/** Factor by which the size of deliveries grows after a successful one. */
const GROWTH = 1.1

/**
 * Controls the number and size of deliveries. Both grow slowly with every successful delivery and are halved
 * when the output is overloaded, as in TCP congestion control (additive increase, multiplicative decrease;
 * Chiu and Jain 1989).
 */
export class Pace {
  #concurrency = 1
  #records = MAX_RECORDS

  /** Maximum number of concurrent deliveries. */
  get concurrency(): number {
    return Math.floor(this.#concurrency)
  }

  /** Maximum number of records per delivery. */
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

  /** Reduces the size after a delivery of this many records was too large. */
  tooLarge(records: number): void {
    this.#records = Math.max(1, Math.min(this.#records, records) / 2)
  }
}
