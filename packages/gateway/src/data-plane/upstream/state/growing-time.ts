/** A time that doubles while it is needed again soon, up to a bound. */
export class GrowingTime {
  readonly #firstMs: number
  readonly #maxMs: number
  #lastMs = 0
  #overMono = 0

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
  }

  /** The next time: the first one again when none was needed for as long as the last has taken. */
  next(nowMono: number): number {
    const isSoon = this.#lastMs > 0 && nowMono - this.#overMono <= this.#lastMs
    this.#lastMs = Math.min(isSoon ? this.#lastMs * 2 : this.#firstMs, this.#maxMs)
    this.#overMono = nowMono + this.#lastMs
    return this.#lastMs
  }

  /** When the last time is over. */
  get overMono(): number {
    return this.#overMono
  }
}
