import type { WindowPlan } from '@sluice/config'

const BUCKETS = 10

/** When an attempt began, and since when all of its request is sent and the target is waited for; monotonic clock, ms. */
export interface AttemptTimes {
  readonly beganMono: number
  readonly sentMono: number
}

/** The attempts at one target over a sliding window of ten buckets. Times are of the monotonic clock, in ms. */
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
  /** Attempts begun before it do not count. */
  #startMono = 0
  /** Attempts without an answer. */
  #waiting = 0
  /** Since when there are some, and none was answered. */
  #silentMono = 0

  constructor(plan: WindowPlan) {
    this.#plan = plan
    this.#bucketMs = plan.windowMs / BUCKETS
  }

  /** Forgets everything, also the attempts that are under way. */
  restart(nowMono: number): void {
    this.#startMono = nowMono
    this.requests = this.failures = this.slow = this.#waiting = 0
    for (const counts of [this.#requests, this.#failures, this.#slow]) counts.fill(0)
  }

  /** Whether an attempt counts. */
  covers({ beganMono }: AttemptTimes): boolean {
    return beganMono >= this.#startMono
  }

  /** One more attempt waits for the target. */
  wait(nowMono: number): void {
    if (this.#waiting++ === 0) this.#silentMono = nowMono
  }

  /** An attempt has an outcome. */
  add(nowMono: number, isFailure: boolean, isSlow: boolean): void {
    this.#advance(nowMono)
    this.#waiting--
    this.#silentMono = nowMono
    const at = this.#bucket % BUCKETS
    this.#requests[at]!++
    this.requests++
    if (isFailure) this.#addFailure(at)
    if (!isSlow) return
    this.#slow[at]!++
    this.slow++
  }

  /** An attempt that was answered has failed after that. */
  addFailure(nowMono: number): void {
    this.#advance(nowMono)
    this.#addFailure(this.#bucket % BUCKETS)
  }

  /** An attempt ends without an outcome. */
  leave(): void {
    this.#waiting--
  }

  /** Whether the target has taken too long. The time in which the client still sends its body is not the target's. */
  isSlow({ sentMono }: Pick<AttemptTimes, 'sentMono'>, nowMono: number): boolean {
    return this.#plan.slowAfterMs !== null && nowMono - sentMono > this.#plan.slowAfterMs
  }

  /** Whether `minRequests` attempts wait, and none was answered for longer than `slowAfter`: the target hangs. */
  isSilent(nowMono: number): boolean {
    return this.#waiting >= this.#plan.minRequests && this.isSlow({ sentMono: this.#silentMono }, nowMono)
  }

  get isFailing(): boolean {
    return this.hasShare(this.failures, this.#plan.failureRatio)
  }

  /** Whether there are enough attempts in the window, and so many of them are this share. */
  hasShare(count: number, ratio: number): boolean {
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
