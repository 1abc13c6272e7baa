/** Retries that are always allowed at the start, so that a quiet upstream can be retried too. */
const RESERVE = 10
const MAX_TOKENS = 1000

/**
 * Keeps retries to a share of the requests, so that they cannot multiply the bundle on an upstream in trouble: every
 * request earns `ratio` of a token, every retry spends one.
 */
export class RetryBudget {
  readonly #ratio: number
  #tokens: number

  /** @param ratio retries per request, 0 to 1; 0 allows none at all. */
  constructor(ratio: number) {
    this.#ratio = ratio
    this.#tokens = ratio === 0 ? 0 : RESERVE
  }

  earn(): void {
    if (this.#tokens < MAX_TOKENS) this.#tokens += this.#ratio
  }

  /** Whether one more retry is allowed; if so it is spent. */
  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
