/** How a worker's life ended. */
export interface Death {
  readonly ageMs: number
}

/** What follows a death. */
export type Verdict =
  | { readonly kind: 'restart'; readonly delayMs: number }
  /** The worker cannot start: more of the same would only hide why. */
  | { readonly kind: 'stop'; readonly deaths: number }

/** A worker that lived this long has started well; its death begins a new count. */
const STABLE_MS = 10_000
/** Deaths are counted over this time. */
const WINDOW_MS = 60_000
/** So many young deaths within the window, with never a ready worker before, are a crash loop. */
const MAX_DEATHS = 5
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000

/**
 * When a worker's seat is filled again. The first death costs no wait, the next ones 0.5 s, 1 s, ... 30 s. A seat
 * whose workers never became ready is given up after five young deaths within a minute; one that served before is
 * restarted for ever, because the others go on serving meanwhile.
 */
export class RestartBudget {
  readonly #now: () => number
  #deathTimes: number[] = []
  #wasReady = false

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** A worker in this seat serves. */
  becameReady(): void {
    this.#wasReady = true
  }

  died(death: Death): Verdict {
    const now = this.#now()
    if (death.ageMs >= STABLE_MS) this.#deathTimes = []
    this.#deathTimes = this.#deathTimes.filter((time) => now - time < WINDOW_MS).slice(-MAX_DEATHS * 2)
    const before = this.#deathTimes.length
    this.#deathTimes.push(now)
    if (!this.#wasReady && this.#deathTimes.length >= MAX_DEATHS) {
      return { kind: 'stop', deaths: this.#deathTimes.length }
    }
    const delayMs = before === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (before - 1), MAX_DELAY_MS)
    return { kind: 'restart', delayMs }
  }
}
