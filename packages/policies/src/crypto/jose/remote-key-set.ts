import type { KeySet, SignatureKey } from './key-set.js'

/** Keys of an issuer, as they were fetched. */
export interface FetchedKeys {
  /** Another text for other keys. */
  readonly version: string
  /** The ids of the keys. */
  readonly kids: ReadonlySet<string>
  candidates(alg: string, kid: string | null): readonly SignatureKey[]
}

/** Fetches the keys. Rejects with any Error; its message holds no secret. */
export type FetchKeys = () => Promise<FetchedKeys>

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

/** Tokens that name unknown keys have the keys fetched no more often than this: anybody can write a `kid`. */
const UNKNOWN_EVERY_MS = 10_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

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
  readonly #fetchers: FetchKeys[] = []
  #keys: FetchedKeys | null = null
  #fetchedMono = Number.NEGATIVE_INFINITY
  #nextUnknownMono = Number.NEGATIVE_INFINITY
  #pauseUntilMono = Number.NEGATIVE_INFINITY
  #failures = 0
  #running: Promise<void> | null = null

  constructor(options: RemoteKeySetOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Says how the keys are fetched; after a reload the newest way counts. @returns what takes it back. */
  use(fetch: FetchKeys): () => void {
    this.#fetchers.push(fetch)
    return () => {
      const at = this.#fetchers.indexOf(fetch)
      if (at >= 0) this.#fetchers.splice(at, 1)
    }
  }

  /** Rejects with KeysUnavailable. */
  candidates(alg: string, kid: string | null): readonly SignatureKey[] | Promise<readonly SignatureKey[]> {
    const now = this.#now()
    const keys = this.#usable(now)
    if (keys === null) return this.#fetchFirst(now).then(() => this.#found(alg, kid))
    if (kid === null || keys.kids.has(kid) || !this.#mayAskForUnknown(now)) return keys.candidates(alg, kid)
    return this.#fetch().then(() => this.#found(alg, kid))
  }

  /** Fetches keys that have grown old; called every few seconds. */
  keepFresh(): void {
    const now = this.#now()
    if (now - this.#fetchedMono >= this.#options.refreshMs && now >= this.#pauseUntilMono) void this.#fetch()
  }

  #usable(now: number): FetchedKeys | null {
    return now - this.#fetchedMono < this.#options.maxStaleMs ? this.#keys : null
  }

  #mayAskForUnknown(now: number): boolean {
    if (this.#running !== null) return true
    if (now < this.#nextUnknownMono || now < this.#pauseUntilMono) return false
    this.#nextUnknownMono = now + UNKNOWN_EVERY_MS
    return true
  }

  async #fetchFirst(now: number): Promise<void> {
    if (now >= this.#pauseUntilMono || this.#running !== null) await this.#fetch()
  }

  #found(alg: string, kid: string | null): readonly SignatureKey[] {
    const keys = this.#usable(this.#now())
    if (keys === null) throw new KeysUnavailable('the keys of the issuer cannot be had')
    return keys.candidates(alg, kid)
  }

  /** Never rejects. */
  #fetch(): Promise<void> {
    this.#running ??= this.#take().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #take(): Promise<void> {
    try {
      const fetch = this.#fetchers.at(-1)
      if (fetch === undefined) throw new Error('the policy is gone')
      const keys = await fetch()
      if (keys.version !== this.#keys?.version) this.generation++
      this.#keys = keys
      this.#fetchedMono = this.#now()
      this.#failures = 0
    } catch (error) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LONGEST_PAUSE_MS)
      this.#pauseUntilMono = this.#now() + pauseMs
      this.#options.onFailure(error instanceof Error ? error.message : String(error))
    }
  }
}
