/** Initial retries, so that an upstream with little traffic can be retried too. */
const RESERVE = 10
const MAX_TOKENS = 1000

/**
 * Limits retries to a fraction of the requests, so that they cannot multiply the load on a failing upstream. Every
 * request earns `ratio` tokens, and every retry costs one.
 */
export class RetryBudget {
  readonly #ratio: number
  #tokens: number

  /** @param ratio retries per request, from 0 to 1; 0 allows none. */
  constructor(ratio: number) {
    this.#ratio = ratio
    this.#tokens = ratio === 0 ? 0 : RESERVE
  }

  earn(): void {
    if (this.#tokens < MAX_TOKENS) this.#tokens += this.#ratio
  }

  /** Returns true and spends a token if one more retry is allowed. */
  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
