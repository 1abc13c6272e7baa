/** End of a worker process. */
export interface Death {
  readonly ageMs: number
}

/** Reaction to a worker's death. */
export type RestartDecision =
  | { readonly kind: 'restart'; readonly delayMs: number }
  /** The worker cannot start. Further restarts would only hide the reason. */
  | { readonly kind: 'stop'; readonly deaths: number }

/** Minimum age in milliseconds of a worker that started well. Its death starts a new count. */
const STABLE_MS = 10_000
/** Window in milliseconds over which deaths are counted. */
const WINDOW_MS = 60_000
/** Number of deaths without ever becoming ready that count as a crash loop. */
const MAX_DEATHS = 5
const FIRST_DELAY_MS = 500
/** Backoff before the first success: deaths within the window without a delay, and the longest delay. */
const UNPROVEN = { free: 1, maxDelayMs: 30_000 }
/**
 * Backoff after a success. The cause then came from outside, and waiting longer would only reduce capacity.
 */
const PROVEN = { free: 5, maxDelayMs: 5000 }

/**
 * Decides when a worker slot is filled again: at once at first, then with growing delays. A slot whose
 * workers never became ready is given up after five deaths. One that has served is restarted forever, because
 * the other workers keep serving.
 */
export class RestartBudget {
  readonly #now: () => number
  #deathTimes: number[] = []
  #wasReady = false

  /** @param now monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Notes that a worker in this slot is ready. */
  becameReady(): void {
    this.#wasReady = true
  }

  died(death: Death): RestartDecision {
    const now = this.#now()
    if (this.#wasReady) {
      if (death.ageMs >= STABLE_MS) this.#deathTimes = []
      this.#deathTimes = this.#deathTimes.filter((time) => now - time < WINDOW_MS)
    }
    this.#deathTimes = this.#deathTimes.slice(-MAX_DEATHS * 2)
    const before = this.#deathTimes.length
    this.#deathTimes.push(now)
    if (!this.#wasReady && this.#deathTimes.length >= MAX_DEATHS)
      return { kind: 'stop', deaths: this.#deathTimes.length }
    const { free, maxDelayMs } = this.#wasReady ? PROVEN : UNPROVEN
    const gapMs = before < free ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (before - free), maxDelayMs)
    return { kind: 'restart', delayMs: Math.max(0, gapMs - death.ageMs) }
  }
}
