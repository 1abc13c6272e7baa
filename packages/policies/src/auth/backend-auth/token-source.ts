import { messageOf } from '@sluice/core'
import { GrantRefused } from '../../identity/oauth/token-response.js'
import { SharedFetch } from '../../shared/call/shared-fetch.js'

/** An access token as issued by the authorization server. */
export interface IssuedToken {
  readonly value: string
  /** Remaining lifetime in milliseconds. */
  readonly lifeMs: number
}

/** Thrown when there is no token. The message gives the reason, without secrets. */
export class NoToken extends Error {
  override readonly name = 'NoToken'
  /** Time until the authorization server is asked again, in milliseconds. */
  readonly retryAfterMs: number
  /** True if the grant was refused, so that a retry with the same input cannot succeed. */
  readonly isRefused: boolean

  constructor(message: string, retryAfterMs: number, isRefused: boolean) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.isRefused = isRefused
  }
}

/** Fetches a token. Rejects with any Error. @param last token to replace, or '' for the first. */
export type FetchToken = (last: string) => Promise<IssuedToken>

/** Options for a `TokenSource`. */
export interface TokenSourceOptions {
  readonly refreshBeforeMs: number
  /** Called for each failed request. */
  readonly onFailure: (reason: string) => void
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

/** Minimum interval between tokens requested because a backend refused the last one, in milliseconds. */
const FORCED_EVERY_MS = 10_000
/** Safety margin before expiry in milliseconds, so that a token does not expire in transit. */
const TRAVEL_MS = 5000

interface HeldToken {
  readonly value: string
  /** Monotonic time in milliseconds. */
  readonly refreshAt: number
  readonly expiresAt: number
}

/**
 * The token of one client, kept fresh while it is used. Concurrent callers share one token request.
 * A new token is fetched in the background while the current one is still valid. After a failure, requests
 * pause for a while.
 */
export class TokenSource {
  readonly #refreshBeforeMs: number
  readonly #now: () => number
  readonly #fetch: SharedFetch<IssuedToken>
  #held: HeldToken | null = null
  /**
   * Token that a backend refused. It is used if no other can be fetched, because the refusal may concern one
   * request only.
   */
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

  /** Registers a way to fetch tokens. The returned function removes it. */
  use(fetch: FetchToken): () => void {
    return this.#fetch.use(async () => {
      try {
        return this.#hold(await fetch(this.#last))
      } catch (error) {
        this.#isRefused = error instanceof GrantRefused
        throw error
      }
    })
  }

  /** Returns the token, or a promise if it must be fetched. @throws NoToken, or rejects with it. */
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
      throw new NoToken('the token endpoint failed recently', pauseLeftMs, this.#isRefused)
    }
    return this.#wait()
  }

  /** Records that a backend refused a token. Returns true if there is, or may be, a different one. */
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

  /** Replaces a token that is about to expire, if it has been used. */
  keepFresh(): void {
    const now = this.#now()
    const held = this.#held
    if (this.#isUsed && held !== null && now >= held.refreshAt) this.#refresh()
  }

  #refresh(): void {
    if (this.#fetch.isRunning || this.#fetch.pauseLeftMs > 0) return
    // A failure is reported to the next caller that needs the token.
    this.#fetch.run().catch(() => {})
  }

  async #wait(): Promise<string> {
    try {
      return (await this.#fetch.run()).value
    } catch (error) {
      const spare = this.#spareValue()
      if (spare !== null) return spare
      const reason = messageOf(error)
      throw new NoToken(reason, this.#fetch.pauseLeftMs, this.#isRefused)
    }
  }

  /**
   * Returns the refused token while no other can be fetched. Otherwise one client could make the token
   * unusable for everyone by provoking a refusal.
   */
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
