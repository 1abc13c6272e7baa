/** Minimum time before a request counts as overdue, in milliseconds. */
const MIN_OVERDUE_MS = 1000

/** Instruction for waiting requests: look in the cache again, or go to the upstream. */
export type WaitResult = 'look' | 'go'

/** A waiting request. */
export interface Waiter {
  readonly settle: (result: WaitResult) => void
  readonly timer: NodeJS.Timeout
}

/** Limits for waiting requests. */
export interface CoalesceLimits {
  /** Maximum number of waiting requests. Others go to the upstream. */
  readonly most: number
  readonly waitMs: number
}

/** A request to the upstream whose response also serves the requests that wait for it. */
export class InFlightFetch {
  readonly #waiting = new Set<Waiter>()
  readonly #startedAt: number
  readonly #onDone: (pending: InFlightFetch) => void
  #isDone = false

  /** @param now wall clock time in milliseconds. */
  constructor(now: number, onDone: (pending: InFlightFetch) => void) {
    this.#startedAt = now
    this.#onDone = onDone
  }

  /**
   * Returns true if the request has taken too long, for example because its client reads slowly on purpose.
   * Requests no longer wait for it, and another one may take its place.
   */
  isOverdue(now: number, { waitMs }: CoalesceLimits): boolean {
    return now - this.#startedAt >= Math.max(waitMs, MIN_OVERDUE_MS)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Adds a waiting request. Returns null if too many are waiting. */
  join({ most, waitMs }: CoalesceLimits, settle: (result: WaitResult) => void): Waiter | null {
    if (this.#waiting.size >= most) return null
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter)
      settle('go')
    }, waitMs).unref()
    const waiter = { settle, timer }
    this.#waiting.add(waiter)
    return waiter
  }

  /** Removes a waiting request whose client has disconnected. */
  leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    this.#waiting.delete(waiter)
  }

  /** Ends the wait of all waiting requests. Only the first call has an effect. */
  finish(result: WaitResult): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#onDone(this)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const { settle, timer } of waiting) {
      clearTimeout(timer)
      settle(result)
    }
  }
}
