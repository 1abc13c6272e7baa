/** A request is waited for, and not sent again in the background, for so long at least. */
const LEAST_OVERDUE_MS = 1000

/** What those who wait for a flight are told: look again, or go to the upstream yourselves. */
export type Landing = 'look' | 'go'

/** One who waits. */
export interface Waiter {
  readonly settle: (landing: Landing) => void
  readonly timer: NodeJS.Timeout
}

export interface FlightBounds {
  /** More than that go by themselves. */
  readonly most: number
  readonly waitMs: number
}

/** A request on its way to the upstream whose response others wait for, to be answered with it as well. */
export class Flight {
  readonly #waiting = new Set<Waiter>()
  readonly #startedAt: number
  readonly #onLanded: (flight: Flight) => void
  #hasLanded = false

  /** @param now wall clock, ms. */
  constructor(now: number, onLanded: (flight: Flight) => void) {
    this.#startedAt = now
    this.#onLanded = onLanded
  }

  /**
   * It takes longer than anybody should wait, such as one whose client reads slowly on purpose: nobody waits for it any
   * more, and another may take its place.
   */
  isOverdue(now: number, { waitMs }: FlightBounds): boolean {
    return now - this.#startedAt >= Math.max(waitMs, LEAST_OVERDUE_MS)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Null: too many wait already. */
  join({ most, waitMs }: FlightBounds, settle: (landing: Landing) => void): Waiter | null {
    if (this.#waiting.size >= most) return null
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter)
      settle('go')
    }, waitMs).unref()
    const waiter = { settle, timer }
    this.#waiting.add(waiter)
    return waiter
  }

  /** Whose client is gone waits no more. */
  leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    this.#waiting.delete(waiter)
  }

  /** It has come to an end; only the first time counts. */
  land(landing: Landing): void {
    if (this.#hasLanded) return
    this.#hasLanded = true
    this.#onLanded(this)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const { settle, timer } of waiting) {
      clearTimeout(timer)
      settle(landing)
    }
  }
}
