import type { WindowPlan } from '@sluice/config'

const BUCKETS = 10

/** Start of an attempt, and the time its request was fully sent, on the monotonic clock in milliseconds. */
export interface AttemptTimes {
  readonly beganMono: number
  readonly sentMono: number
}

/** Figures that opened a breaker or ejected a target. */
export interface AttemptFigures {
  readonly requests: number
  readonly failures: number
  readonly slow: number
  /** Attempts that were waiting for a response. */
  readonly waiting: number
}

/**
 * The attempts at one target over a sliding window of ten buckets. Times are on the monotonic clock, in milliseconds.
 */
export class AttemptWindow {
  requests = 0
  failures = 0
  slow = 0
  readonly #plan: WindowPlan
  readonly #bucketMs: number
  readonly #requests = new Int32Array(BUCKETS)
  readonly #failures = new Int32Array(BUCKETS)
  readonly #slow = new Int32Array(BUCKETS)
  #bucket = 0
  /** Attempts started earlier do not count. */
  #startMono = 0
  /** Number of attempts without a response. */
  #waiting = 0
  /** Time since when attempts are waiting and none has been answered. */
  #unansweredSinceMono = 0

  constructor(plan: WindowPlan) {
    this.#plan = plan
    this.#bucketMs = plan.windowMs / BUCKETS
  }

  /** Current figures. */
  get figures(): AttemptFigures {
    const { requests, failures, slow } = this
    return { requests, failures, slow, waiting: this.#waiting }
  }

  /** Resets the window. Attempts in progress no longer count. */
  restart(nowMono: number): void {
    this.#startMono = nowMono
    this.requests = this.failures = this.slow = this.#waiting = 0
    for (const counts of [this.#requests, this.#failures, this.#slow]) counts.fill(0)
  }

  /** Returns true if an attempt counts. */
  covers({ beganMono }: AttemptTimes): boolean {
    return beganMono >= this.#startMono
  }

  /** Records that an attempt waits for the target. */
  wait(nowMono: number): void {
    if (this.#waiting++ === 0) this.#unansweredSinceMono = nowMono
  }

  /** Records the outcome of an attempt. */
  add(nowMono: number, isFailure: boolean, isSlow: boolean): void {
    this.#advance(nowMono)
    this.#waiting--
    this.#unansweredSinceMono = nowMono
    const at = this.#bucket % BUCKETS
    this.#requests[at]!++
    this.requests++
    if (isFailure) this.#addFailure(at)
    if (!isSlow) return
    this.#slow[at]!++
    this.slow++
  }

  /** Records that an answered attempt has failed. */
  addFailure(nowMono: number): void {
    this.#advance(nowMono)
    this.#addFailure(this.#bucket % BUCKETS)
  }

  /** Records that an attempt has ended without an outcome. */
  leave(): void {
    this.#waiting--
  }

  /**
   * Returns true if the target has taken too long. Time in which the client is still sending its body does not count.
   */
  isSlow({ sentMono }: Pick<AttemptTimes, 'sentMono'>, nowMono: number): boolean {
    return this.#plan.slowAfterMs !== null && nowMono - sentMono > this.#plan.slowAfterMs
  }

  /**
   * Returns true if the target hangs: `minRequests` attempts are waiting, and none was answered for longer than
   * `slowAfter`.
   */
  isHanging(nowMono: number): boolean {
    return (
      this.#waiting >= this.#plan.minRequests && this.isSlow({ sentMono: this.#unansweredSinceMono }, nowMono)
    )
  }

  get isFailing(): boolean {
    return this.reachesRatio(this.failures, this.#plan.failureRatio)
  }

  /** Returns true if there are enough attempts in the window and `count` is at least this fraction of them. */
  reachesRatio(count: number, ratio: number): boolean {
    return count > 0 && this.requests >= this.#plan.minRequests && count >= ratio * this.requests
  }

  #addFailure(at: number): void {
    this.#failures[at]!++
    this.failures++
  }

  #advance(nowMono: number): void {
    const bucket = Math.floor(nowMono / this.#bucketMs)
    const from = Math.max(this.#bucket, bucket - BUCKETS)
    for (let next = from + 1; next <= bucket; next++) this.#clear(next % BUCKETS)
    this.#bucket = bucket
  }

  #clear(at: number): void {
    this.requests -= this.#requests[at]!
    this.failures -= this.#failures[at]!
    this.slow -= this.#slow[at]!
    this.#requests[at] = this.#failures[at] = this.#slow[at] = 0
  }
}
