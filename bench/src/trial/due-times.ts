/**
 * Times at which requests were due, in their order, in a ring of fixed size:
 *
 *     |   | 7 | 8 | 9 |   |
 *           ^head       ^head + length
 */
export class DueTimes {
  readonly #ring: Float64Array
  #head = 0
  #length = 0

  constructor(most: number) {
    this.#ring = new Float64Array(most)
  }

  get length(): number {
    return this.#length
  }

  /** Adds a time at the end; false when there is no room. */
  add(dueMono: number): boolean {
    if (this.#length === this.#ring.length) return false
    this.#ring[(this.#head + this.#length++) % this.#ring.length] = dueMono
    return true
  }

  /** Takes the first one out; null when there is none. */
  take(): number | null {
    if (this.#length === 0) return null
    const dueMono = this.#ring[this.#head]!
    this.#head = (this.#head + 1) % this.#ring.length
    this.#length--
    return dueMono
  }
}
