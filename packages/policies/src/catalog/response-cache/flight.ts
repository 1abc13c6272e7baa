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
  readonly #onLanded: () => void
  #hasLanded = false

  constructor(onLanded: () => void) {
    this.#onLanded = onLanded
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
    this.#onLanded()
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const { settle, timer } of waiting) {
      clearTimeout(timer)
      settle(landing)
    }
  }
}
