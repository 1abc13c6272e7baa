/** An exchange that waits for its turn, and may end while it waits. */
export interface Waiter {
  /** Monotonic end time, or 0 while the exchange is in progress. */
  readonly endedMono: number
}

interface Place {
  readonly waiter: Waiter
  /** @param isTurn false if the waiter has ended and gets no turn. */
  readonly call: (isTurn: boolean) => void
}

/**
 * Limits how many exchanges work at the same time. The others wait in arrival order; those that have ended are skipped.
 */
export class Semaphore {
  #free: number
  #waiting: Place[] = []

  constructor(permits: number) {
    this.#free = permits
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Waits for a turn. Resolves to true if the caller has the turn and must call `release` once, or false if its exchange
   * ended first.
   */
  async acquire(waiter: Waiter): Promise<boolean> {
    if (this.#free === 0) return new Promise((call) => void this.#waiting.push({ waiter, call }))
    this.#free--
    return true
  }

  release(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const isTurn = next.waiter.endedMono === 0
      next.call(isTurn)
      if (isTurn) return
    }
    this.#free++
  }

  /** Removes waiting exchanges that have ended. */
  dropEnded(): void {
    const ended = this.#waiting.filter(({ waiter }) => waiter.endedMono !== 0)
    this.#waiting = this.#waiting.filter(({ waiter }) => waiter.endedMono === 0)
    for (const { call } of ended) call(false)
  }
}
