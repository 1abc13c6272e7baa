import type { AttemptTimes } from './attempt-window.js'
import type { TargetState } from './target-state.js'

/** One attempt at a target whose breaker or ejection asks for its outcome; each attempt ends with `end`. */
export class WatchedAttempt implements AttemptTimes {
  readonly beganMono = performance.now()
  /** 0: the client still sends its body. */
  sentMono = 0
  readonly #state: TargetState
  #isAnswered = false
  /** The answer was neither a failure nor too late. */
  #isGood = false
  #isLost = false

  constructor(state: TargetState) {
    this.#state = state
    state.begin(this)
  }

  /** All of the request is sent, or an answer does not wait for it. */
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

  /** It has failed, before its answer or within it. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.wait()
    if (this.#isAnswered) this.#state.failLate(this)
    else this.#state.settle(this, true)
  }

  /** The target is left: the answer has ended, the attempt was lost, or it is given up. */
  end(): void {
    if (this.#isLost) return
    this.wait()
    if (!this.#isAnswered) this.#state.leave(this)
    else if (this.#isGood) this.#state.complete(this)
  }
}
