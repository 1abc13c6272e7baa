interface CallBreakerOptions {
  /** Number of consecutive failures that open the circuit. */
  readonly failures: number
  /** Time in milliseconds until one call may test the server again. */
  readonly openMs: number
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

/**
 * A circuit breaker for calls to a server. After several consecutive failures, it lets only an occasional call test
 * the server, so that requests do not wait.
 */
export class CallBreaker {
  readonly #options: CallBreakerOptions
  readonly #now: () => number
  #failed = 0
  #openUntil = 0

  constructor(options: CallBreakerOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Returns true if a call may be made now. */
  admits(): boolean {
    if (this.#failed < this.#options.failures) return true
    const now = this.#now()
    if (now < this.#openUntil) return false
    this.#openUntil = now + this.#options.openMs
    return true
  }

  /** Records the result of a call. */
  note(isGood: boolean): void {
    this.#failed = isGood ? 0 : this.#failed + 1
    if (!isGood) this.#openUntil = this.#now() + this.#options.openMs
  }
}
