import type { AttemptTimes } from './attempt-window.js'
import type { TargetState } from './target-state.js'

/** An attempt at a target with a breaker or ejection. Each attempt ends with `end`. */
export class WatchedAttempt implements AttemptTimes {
  readonly beganMono = performance.now()
  /** Time when the request was fully sent; 0 while the client is sending its body. */
  sentMono = 0
  readonly #state: TargetState
  #isAnswered = false
  /** True if the response was neither a failure nor too slow. */
  #isGood = false
  #isLost = false

  constructor(state: TargetState) {
    this.#state = state
    state.begin(this)
  }

  /** Records that the request was fully sent, or that the response did not wait for that. */
  wait(): void {
    if (this.sentMono !== 0) return
    this.sentMono = performance.now()
    this.#state.wait(this)
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  answer(status: number): void {
    this.wait()
    this.#isAnswered = true
    this.#isGood = this.#state.settle(this, status >= 500)
  }

  /** Records a failure, before or during the response. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.wait()
    if (this.#isAnswered) this.#state.failLate(this)
    else this.#state.settle(this, true)
  }

  /** Ends the attempt: the response has ended, or the attempt was lost or abandoned. */
  end(): void {
    if (this.#isLost) return
    this.wait()
    if (!this.#isAnswered) this.#state.leave(this)
    else if (this.#isGood) this.#state.complete(this)
  }
}
