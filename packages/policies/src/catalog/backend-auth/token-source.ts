import { SharedFetch } from '../../shared/shared-fetch.js'

/** A token as the authorization server has issued it. */
export interface IssuedToken {
  readonly value: string
  /** How long it may be used from now on, ms. */
  readonly lifeMs: number
}

/** The authorization server has refused what the token was asked for with. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

/** There is no token; the message says why, without secrets. */
export class NoToken extends Error {
  override readonly name = 'NoToken'
  /** When the authorization server is asked again. */
  readonly retryAfterMs: number
  /** It was refused: another try with the same will not do better. */
  readonly isRefused: boolean

  constructor(message: string, retryAfterMs: number, isRefused: boolean) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.isRefused = isRefused
  }
}

/**
 * Asks for a token. Rejects with any Error.
 * @param last the token before, which is not wanted any more; '' for the first.
 */
export type FetchToken = (last: string) => Promise<IssuedToken>

/** What a token source is told. */
export interface TokenSourceOptions {
  readonly refreshBeforeMs: number
  /** Hears of each call that failed. */
  readonly onFailure: (reason: string) => void
  /** The monotonic clock, ms. */
  readonly now?: () => number
}

/** A backend that refuses every token has no more than one made in this time. */
const FORCED_EVERY_MS = 10_000
/** A token on its way when it ends would be refused. */
const TRAVEL_MS = 5000

interface HeldToken {
  readonly value: string
  /** Monotonic clock, ms. */
  readonly refreshAt: number
  readonly expiresAt: number
}

/**
 * The token of one client, kept fresh as long as it is used. All who need one at the same time wait for one call; a new
 * one is fetched in the background while the old one is still good. After a failure nothing is asked for a while.
 */
export class TokenSource {
  readonly #refreshBeforeMs: number
  readonly #now: () => number
  readonly #fetch: SharedFetch<IssuedToken>
  #held: HeldToken | null = null
  /** A token that a backend has refused, perhaps for the one request: it is better than none. */
  #spare: HeldToken | null = null
  #last = ''
  #isUsed = false
  #isRefused = false
  #forcedAt = Number.NEGATIVE_INFINITY

  constructor({ refreshBeforeMs, onFailure, now = () => performance.now() }: TokenSourceOptions) {
    this.#now = now
    this.#refreshBeforeMs = refreshBeforeMs
    this.#fetch = new SharedFetch({ onFailure, now })
  }

  /** Begins to use a way of asking; the answer ends that. */
  use(fetch: FetchToken): () => void {
    return this.#fetch.use(async () => {
      try {
        return this.#hold(await fetch(this.#last))
      } catch (error) {
        this.#isRefused = error instanceof TokenRefused
        throw error
      }
    })
  }

  /** The token; a promise where it has to be waited for. @throws NoToken, and rejects with it. */
  get(): string | Promise<string> {
    const now = this.#now()
    const held = this.#held
    this.#isUsed = true
    if (held !== null && now < held.expiresAt) {
      if (now >= held.refreshAt) this.#refresh()
      return held.value
    }
    const { pauseLeftMs } = this.#fetch
    if (!this.#fetch.isRunning && pauseLeftMs > 0) {
      const spare = this.#spareValue()
      if (spare !== null) return spare
      throw new NoToken('the token endpoint has failed a moment ago', pauseLeftMs, this.#isRefused)
    }
    return this.#wait()
  }

  /** Whether there is, or may be, another token than this one, which a backend has refused. */
  refuse(value: string): boolean {
    const held = this.#held
    if (held === null && this.#spare?.value === value && this.#fetch.pauseLeftMs > 0) return false
    if (held === null || held.value !== value) return true
    const now = this.#now()
    if (now - this.#forcedAt < FORCED_EVERY_MS) return false
    this.#forcedAt = now
    this.#spare = held
    this.#held = null
    return true
  }

  /** Replaces a token that ends soon, if it was used. */
  keepFresh(): void {
    const now = this.#now()
    const held = this.#held
    if (this.#isUsed && held !== null && now >= held.refreshAt) this.#refresh()
  }

  #refresh(): void {
    if (this.#fetch.isRunning || this.#fetch.pauseLeftMs > 0) return
    // Whoever needs the token while this one fails hears of it then.
    this.#fetch.run().catch(() => {})
  }

  async #wait(): Promise<string> {
    try {
      return (await this.#fetch.run()).value
    } catch (error) {
      const spare = this.#spareValue()
      if (spare !== null) return spare
      const reason = error instanceof Error ? error.message : String(error)
      throw new NoToken(reason, this.#fetch.pauseLeftMs, this.#isRefused)
    }
  }

  /** So nobody who has a backend refuse him takes the token from all others while no other can be had. */
  #spareValue(): string | null {
    const spare = this.#spare
    return spare !== null && this.#now() < spare.expiresAt ? spare.value : null
  }

  #hold(token: IssuedToken): IssuedToken {
    const { lifeMs, value } = token
    const now = this.#now()
    const refreshAt = now + lifeMs - Math.min(this.#refreshBeforeMs, lifeMs / 3)
    this.#spare = null
    this.#last = value
    this.#held = { value, refreshAt, expiresAt: now + lifeMs - Math.min(TRAVEL_MS, lifeMs / 10) }
    this.#isUsed = false
    return token
  }
}
