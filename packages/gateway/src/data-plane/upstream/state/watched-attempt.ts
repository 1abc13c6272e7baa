import type { TargetState } from './target-state.js'

/** One attempt at a target whose breaker or ejection asks for its outcome; each attempt ends with `end`. */
export class WatchedAttempt {
  readonly #state: TargetState
  readonly #sinceMono = performance.now()
  #isAnswered = false
  /** The answer was neither a failure nor too late. */
  #isGood = false
  #isLost = false

  constructor(state: TargetState) {
    this.#state = state
    state.begin(this.#sinceMono)
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  answer(status: number): void {
    this.#isAnswered = true
    this.#isGood = this.#state.settle(this.#sinceMono, status >= 500)
  }

  /** It has failed, before its answer or within it. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    if (this.#isAnswered) this.#state.failLate(this.#sinceMono)
    else this.#state.settle(this.#sinceMono, true)
  }

  /** The target is left: the answer has ended, the attempt was lost, or it is given up. */
  end(): void {
    if (this.#isLost) return
    if (!this.#isAnswered) this.#state.leave(this.#sinceMono)
    else if (this.#isGood) this.#state.complete(this.#sinceMono)
  }
}
