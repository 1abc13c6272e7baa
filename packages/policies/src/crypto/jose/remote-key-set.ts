import { SharedFetch } from '../../shared/shared-fetch.js'
import type { KeySet, SignatureKey } from './key-set.js'
import { UNKNOWN_EVERY_MS } from './keys-of-gateway.js'

/** Keys of an issuer, as they were fetched. */
export interface FetchedKeys {
  /** Another text for other keys. */
  readonly version: string
  /** When, ms since 1970. */
  readonly fetchedAt: number
  /** The ids of the keys. */
  readonly kids: ReadonlySet<string>
  candidates(alg: string, kid: string | null): readonly SignatureKey[]
}

/**
 * Fetches the keys. Rejects with any Error; its message holds no secret.
 * @param held what there is; it is the answer where nothing newer may be asked for.
 * @param kid the key that is missing there; null: they have grown old, or there are none.
 */
export type FetchKeys = (held: FetchedKeys | null, kid: string | null) => Promise<FetchedKeys>

/** What a remote key set is told. */
export interface RemoteKeySetOptions {
  /** Age of the keys from which on they are fetched anew in the background, ms. */
  readonly refreshMs: number
  /** Age up to which they are used while they cannot be fetched, ms. */
  readonly maxStaleMs: number
  /** Hears of each call that failed. */
  readonly onFailure: (reason: string) => void
  /** The monotonic clock, ms. */
  readonly now?: () => number
}

/** There are no keys, or none that are young enough. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/**
 * The keys of an issuer that publishes them. All who need them at one time wait for one call.
 *
 *     age  0 ──── refreshMs ─────────────── maxStaleMs ──────
 *          used │ used, fetched in the      │ nobody is let in
 *               │ background                │ before they came
 */
export class RemoteKeySet implements KeySet {
  generation = 0
  readonly #options: RemoteKeySetOptions
  readonly #now: () => number
  readonly #fetch: SharedFetch<FetchedKeys>
  #keys: FetchedKeys | null = null
  #fetchedMono = Number.NEGATIVE_INFINITY
  #nextUnknownMono = Number.NEGATIVE_INFINITY
  /** For which the call under way was begun. */
  #missing: string | null = null
  #lastFailure = 'nobody has fetched the keys of the issuer'

  constructor(options: RemoteKeySetOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    const onFailure = (reason: string): void => {
      this.#lastFailure = reason
      options.onFailure(reason)
    }
    this.#fetch = new SharedFetch({ onFailure, now: this.#now })
  }

  /** Says how the keys are fetched; after a reload the newest way counts. @returns what takes it back. */
  use(fetch: FetchKeys): () => void {
    return this.#fetch.use(async () => this.#hold(await fetch(this.#keys, this.#missing)))
  }

  /** Rejects with KeysUnavailable. */
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
    // No key has an empty id: one that names none is missing everywhere.
    return this.#refresh(kid ?? '').then(() =>
      this.generation === generation ? null : this.#found(alg, kid),
    )
  }

  /** Fetches keys that have grown old, and gives up those that are too old; called every few seconds. */
  keepFresh(): void {
    const now = this.#now()
    if (this.#keys !== null && this.#usable(now) === null) {
      this.#keys = null
      // What they have verified counts no longer.
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

  /** Never rejects: what is known goes on. */
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
