/** A backoff that doubles if it is needed again soon, up to a limit. */
export class Backoff {
  readonly #firstMs: number
  readonly #maxMs: number
  #lastMs = 0
  #overMono = 0

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
  }

  /** Returns the next duration in milliseconds. It starts over if none was needed for as long as the last one took. */
  next(nowMono: number): number {
    const isSoon = this.#lastMs > 0 && nowMono - this.#overMono <= this.#lastMs
    this.#lastMs = Math.min(isSoon ? this.#lastMs * 2 : this.#firstMs, this.#maxMs)
    this.#overMono = nowMono + this.#lastMs
    return this.#lastMs
  }

  /** Monotonic end of the last duration. */
  get overMono(): number {
    return this.#overMono
  }
}
