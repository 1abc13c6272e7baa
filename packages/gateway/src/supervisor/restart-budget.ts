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
/** This many deaths of workers that never became ready are a crash loop, however long each took. */
const MAX_DEATHS = 5
const FIRST_DELAY_MS = 500
/** Deaths within the window that cost no wait, and the longest wait after them, of a seat that has never served. */
const UNPROVEN = { free: 1, maxDelayMs: 30_000 }
/** The same of one that has: what killed its worker came from outside, and waiting would only serve nobody. */
const PROVEN = { free: 5, maxDelayMs: 5000 }

/**
 * When a worker's seat is filled again: at once, and after several deaths with growing gaps between two starts. A seat
 * whose workers never became ready is given up after five deaths; one that served before is
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
    if (this.#wasReady) {
      if (death.ageMs >= STABLE_MS) this.#deathTimes = []
      this.#deathTimes = this.#deathTimes.filter((time) => now - time < WINDOW_MS)
    }
    this.#deathTimes = this.#deathTimes.slice(-MAX_DEATHS * 2)
    const before = this.#deathTimes.length
    this.#deathTimes.push(now)
    if (!this.#wasReady && this.#deathTimes.length >= MAX_DEATHS) {
      return { kind: 'stop', deaths: this.#deathTimes.length }
    }
    const { free, maxDelayMs } = this.#wasReady ? PROVEN : UNPROVEN
    const gapMs = before < free ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (before - free), maxDelayMs)
    return { kind: 'restart', delayMs: Math.max(0, gapMs - death.ageMs) }
  }
}
