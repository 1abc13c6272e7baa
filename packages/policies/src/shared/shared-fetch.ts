const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/** What a shared fetch is told. */
export interface SharedFetchOptions {
  /** Hears of each call that failed. */
  readonly onFailure: (reason: string) => void
  /** The monotonic clock, ms. */
  readonly now?: () => number
}

/**
 * Fetches what all requests of a worker share. All who need it at one time wait for one call; after a failure it waits 1 s,
 * 2 s, up to 30 s. It outlives reloads: the newest snapshot that uses it says how it is fetched.
 */
export class SharedFetch<T> {
  readonly #onFailure: SharedFetchOptions['onFailure']
  readonly #now: () => number
  readonly #fetchers: (() => Promise<T>)[] = []
  #running: Promise<T> | null = null
  #pauseMs = 0
  #pausedUntilMono = Number.NEGATIVE_INFINITY

  constructor({ onFailure, now = () => performance.now() }: SharedFetchOptions) {
    this.#onFailure = onFailure
    this.#now = now
  }

  /** Begins to use a way of asking, which may reject with any Error; the answer ends that. */
  use(fetch: () => Promise<T>): () => void {
    this.#fetchers.push(fetch)
    return () => {
      const at = this.#fetchers.indexOf(fetch)
      if (at >= 0) this.#fetchers.splice(at, 1)
    }
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** For how long nobody should ask because the last call has failed, ms. */
  get pauseLeftMs(): number {
    return Math.max(0, this.#pausedUntilMono - this.#now())
  }

  /** The call under way, or a new one. Rejects with what it rejects with. */
  run(): Promise<T> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #ask(): Promise<T> {
    try {
      const fetch = this.#fetchers.at(-1)
      if (fetch === undefined) throw new Error('the policy is closed')
      const value = await fetch()
      this.#pauseMs = 0
      return value
    } catch (error) {
      this.#pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2), LONGEST_PAUSE_MS)
      this.#pausedUntilMono = this.#now() + this.#pauseMs
      this.#onFailure(error instanceof Error ? error.message : String(error))
      throw error
    }
  }
}
