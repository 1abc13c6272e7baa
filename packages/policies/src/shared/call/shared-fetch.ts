import { messageOf } from '@sluice/core'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

interface SharedFetchOptions {
  /** Called with the reason of each failed call. */
  readonly onFailure: (reason: string) => void
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

/**
 * Fetches a resource that all requests of a worker share. Concurrent requests wait for one call. After failures it
 * pauses for 1 s, 2 s, up to 30 s. It survives reloads, and uses the fetch function of the newest snapshot.
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

  /** Adds a fetch function, which may reject with any Error. @returns a function that removes it. */
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

  /** Remaining pause after a failed call, in milliseconds. */
  get pauseLeftMs(): number {
    return Math.max(0, this.#pausedUntilMono - this.#now())
  }

  /** Returns the pending call, or starts a new one. @throws the Error of the fetch function */
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
      this.#onFailure(messageOf(error))
      throw error
    }
  }
}
