/** Who waits for a turn: an exchange, which may end meanwhile. */
export interface Waiter {
  /** 0 as long as it goes on. */
  readonly endedMono: number
}

interface Place {
  readonly waiter: Waiter
  /** @param isTurn false: the waiter has ended, and has no turn. */
  readonly call: (isTurn: boolean) => void
}

/** Lets so many work at a time; the others wait in the order in which they came, those that end meanwhile for nothing. */
export class Turns {
  #free: number
  #waiting: Place[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Whoever is given a turn leaves it, once. False: it has ended before its turn came, and has none to leave. */
  async take(waiter: Waiter): Promise<boolean> {
    if (this.#free === 0) return new Promise((call) => void this.#waiting.push({ waiter, call }))
    this.#free--
    return true
  }

  leave(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const isTurn = next.waiter.endedMono === 0
      next.call(isTurn)
      if (isTurn) return
    }
    this.#free++
  }

  /** Lets go of those that have ended. */
  dropEnded(): void {
    const ended = this.#waiting.filter(({ waiter }) => waiter.endedMono !== 0)
    this.#waiting = this.#waiting.filter(({ waiter }) => waiter.endedMono === 0)
    for (const { call } of ended) call(false)
  }
}
