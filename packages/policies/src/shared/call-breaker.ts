/** When calls to a server are given up for a while. */
export interface CallBreakerOptions {
  /** So many in a row. */
  readonly failures: number
  /** For so long; then one call may try. */
  readonly openMs: number
  /** The monotonic clock, ms. */
  readonly now?: () => number
}

/** Spares requests the wait for a server that fails: after some failures in a row one call every while finds out. */
export class CallBreaker {
  readonly #options: CallBreakerOptions
  readonly #now: () => number
  #failed = 0
  #openUntil = 0

  constructor(options: CallBreakerOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Whether a call may be made now. */
  admits(): boolean {
    if (this.#failed < this.#options.failures) return true
    const now = this.#now()
    if (now < this.#openUntil) return false
    this.#openUntil = now + this.#options.openMs
    return true
  }

  /** What became of a call. */
  note(isGood: boolean): void {
    this.#failed = isGood ? 0 : this.#failed + 1
    if (!isGood) this.#openUntil = this.#now() + this.#options.openMs
  }
}
