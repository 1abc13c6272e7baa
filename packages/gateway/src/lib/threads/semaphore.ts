import { type Clocks, processClocks, workBetween } from '../process-clocks.js'

/** An exchange that waits for its turn, and may end while it waits. */
export interface Waiter {
  /** Monotonic end time, or 0 while the exchange is in progress. */
  readonly endedMono: number
}

interface Place {
  readonly waiter: Waiter
  readonly since: Clocks
  /** @param isTurn false if the waiter gets no turn. */
  readonly call: (isTurn: boolean) => void
}

/**
 * Limits how many exchanges work at the same time. The others wait in arrival order; those that have ended
 * are skipped, and those that have waited too long get no turn.
 */
export class Semaphore {
  #free: number
  #waiting: Place[] = []
  readonly #maxWaitMs: number
  readonly #readClocks: () => Clocks

  /** @param maxWaitMs time limit for the wait, as far as the process has a CPU, in milliseconds. */
  constructor(permits: number, maxWaitMs: number, readClocks: () => Clocks = processClocks) {
    this.#free = permits
    this.#maxWaitMs = maxWaitMs
    this.#readClocks = readClocks
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Waits for a turn. Resolves to true if the caller has the turn and must call `release` once, or false if its exchange
   * ended first or it has waited too long.
   */
  async acquire(waiter: Waiter): Promise<boolean> {
    if (this.#free === 0) {
      this.#dropOverdue()
      const since = this.#readClocks()
      return new Promise((call) => void this.#waiting.push({ waiter, since, call }))
    }
    this.#free--
    return true
  }

  release(): void {
    this.#dropOverdue()
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const isTurn = next.waiter.endedMono === 0
      next.call(isTurn)
      if (isTurn) return
    }
    this.#free++
  }

  /** Removes those that have waited too long. All wait equally long, so they are the first. */
  #dropOverdue(): void {
    if (this.#waiting.length === 0) return
    const now = this.#readClocks()
    const fresh = this.#waiting.findIndex(({ since }) => workBetween(since, now) <= this.#maxWaitMs)
    for (const { call } of this.#waiting.splice(0, fresh < 0 ? this.#waiting.length : fresh)) call(false)
  }

  /** Removes waiting exchanges that have ended. */
  dropEnded(): void {
    const ended = this.#waiting.filter(({ waiter }) => waiter.endedMono !== 0)
    this.#waiting = this.#waiting.filter(({ waiter }) => waiter.endedMono === 0)
    for (const { call } of ended) call(false)
  }
}
