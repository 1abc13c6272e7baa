import type { KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { SharedFetch } from '../../shared/call/shared-fetch.js'
import { type FetchNewer, UNKNOWN_EVERY_MS } from './gateway-fetch.js'

/** Fetched keys of an issuer. */
export interface FetchedKeys {
  /** Digest that differs between versions. */
  readonly version: string
  /** Time of the fetch in milliseconds since 1970. */
  readonly fetchedAt: number
  /** Ids of the keys. */
  readonly kids: ReadonlySet<string>
  candidates(alg: string, kid: string | null): readonly SignatureKey[]
}

interface RemoteKeySetOptions {
  /** Age at which keys are refreshed in the background, in milliseconds. */
  readonly refreshMs: number
  /** Maximum age of keys while they cannot be fetched, in milliseconds. */
  readonly maxStaleMs: number
  /** Called with the reason of each failed call. */
  readonly onFailure: (reason: string) => void
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

/** Thrown if there are no keys, or they are too old. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/**
 * Keys that an issuer publishes. Concurrent requests wait for one call:
 *
 *     age  0 ──── refreshMs ─────────────── maxStaleMs ──────
 *          used │ used, refreshed in the    │ requests are refused
 *               │ background                │ until a refresh succeeds
 */
export class RemoteKeySet implements KeySet {
  generation = 0
  readonly #options: RemoteKeySetOptions
  readonly #now: () => number
  readonly #fetch: SharedFetch<FetchedKeys>
  #keys: FetchedKeys | null = null
  #fetchedMono = Number.NEGATIVE_INFINITY
  #nextUnknownMono = Number.NEGATIVE_INFINITY
  /** Key id for which the pending call was made. */
  #missing: string | null = null
  #lastFailure = 'the keys of the issuer have not been fetched yet'

  constructor(options: RemoteKeySetOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    const onFailure = (reason: string): void => {
      this.#lastFailure = reason
      options.onFailure(reason)
    }
    this.#fetch = new SharedFetch({ onFailure, now: this.#now })
  }

  /** Sets the fetch function. After a reload the newest one applies. @returns a function that removes it. */
  use(fetch: FetchNewer<FetchedKeys>): () => void {
    return this.#fetch.use(async () => {
      const missing = this.#missing
      return this.#hold(await fetch(this.#keys, missing === null ? null : ({ kids }) => kids.has(missing)))
    })
  }

  /** Returns the candidate keys. Rejects with KeysUnavailable. */
  candidates(alg: string, kid: string | null): readonly SignatureKey[] | Promise<readonly SignatureKey[]> {
    const now = this.#now()
    const keys = this.#usable(now)
    if (keys === null) return this.#fetchFirst().then(() => this.#found(alg, kid))
    if (kid === null || keys.kids.has(kid) || !this.#mayAskForUnknown(now)) return keys.candidates(alg, kid)
    return this.#refresh(kid).then(() => this.#found(alg, kid))
  }

  /** Refreshes the keys, rate limited as for unknown ids, because anybody can send an invalid signature. */
  renewed(alg: string, kid: string | null): Promise<readonly SignatureKey[] | null> | null {
    if (!this.#mayAskForUnknown(this.#now())) return null
    const { generation } = this
    // No key has an empty id, so it always counts as missing.
    return this.#refresh(kid ?? '').then(() =>
      this.generation === generation ? null : this.#found(alg, kid),
    )
  }

  /** Refreshes old keys and drops expired ones. Called every few seconds. */
  keepFresh(): void {
    const now = this.#now()
    if (this.#keys !== null && this.#usable(now) === null) {
      this.#keys = null
      // Cached verifications by these keys are void.
      this.generation++
    }
    if (now - this.#fetchedMono >= this.#options.refreshMs && this.#fetch.pauseLeftMs === 0)
      void this.#refresh()
  }

  #usable(now: number): FetchedKeys | null {
    return now - this.#fetchedMono < this.#options.maxStaleMs ? this.#keys : null
  }

  get isRenewable(): boolean {
    return this.#now() >= this.#nextUnknownMono && this.#fetch.pauseLeftMs === 0
  }

  #mayAskForUnknown(now: number): boolean {
    if (this.#fetch.isRunning) return true
    if (!this.isRenewable) return false
    this.#nextUnknownMono = now + UNKNOWN_EVERY_MS
    return true
  }

  async #fetchFirst(): Promise<void> {
    if (this.#fetch.pauseLeftMs === 0 || this.#fetch.isRunning) await this.#refresh()
  }

  #found(alg: string, kid: string | null): readonly SignatureKey[] {
    const keys = this.#usable(this.#now())
    if (keys === null) throw new KeysUnavailable(this.#lastFailure)
    return keys.candidates(alg, kid)
  }

  /** Refreshes the keys. Never rejects: the current keys stay in use. */
  async #refresh(missing: string | null = null): Promise<void> {
    if (!this.#fetch.isRunning) this.#missing = missing
    await this.#fetch.run().catch(() => {})
  }

  #hold(keys: FetchedKeys): FetchedKeys {
    if (keys === this.#keys) return keys
    if (keys.version !== this.#keys?.version) this.generation++
    this.#keys = keys
    this.#fetchedMono = this.#now() - Math.max(0, Date.now() - keys.fetchedAt)
    return keys
  }
}
