import { LRUCache } from 'lru-cache'

/** Result of a call and its lifetime. */
export interface Found<T> {
  readonly value: T
  /** Lifetime in milliseconds, or 0 if the result must not be stored. */
  readonly ttlMs: number
  /** Approximate size in memory, in bytes. */
  readonly bytes: number
  /** True for a refusal. Refusals are stored separately, so that unknown callers cannot evict the entries of others. */
  readonly isNegative: boolean
  /** True if the result applies only to this caller. Waiting callers make their own calls then. */
  readonly isCallerSpecific: boolean
}

/** Options for `CallCache`. */
export interface CallCacheOptions {
  /** Maximum number of entries in each of the two tables. */
  readonly maxEntries: number
  /** Maximum total size of the values in each table, in bytes. */
  readonly maxBytes: number
  /** Time after expiry in which a value is still used while it is refreshed in the background, in milliseconds. */
  readonly revalidateMs: number
  /** Time after expiry in which a value is still used if the call fails, in milliseconds. */
  readonly staleMs: number
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

interface Kept<T> {
  readonly value: T
  readonly bytes: number
  readonly freshUntil: number
}

/** Memory of an entry in addition to its value: its key, which is a digest, and the table. In bytes. */
const ENTRY_BYTES = 300

/**
 * Results of calls to another server, by key. Concurrent identical calls are coalesced into one.
 *
 *     stored ─┬── fresh: used
 *             ├── up to revalidateMs after expiry: used, and refreshed in the background
 *             └── up to staleMs after expiry: requested again, used if that fails
 */
export class CallCache<T extends object> {
  readonly #options: CallCacheOptions
  readonly #now: () => number
  readonly #known: LRUCache<string, Kept<T>>
  readonly #refused: LRUCache<string, Kept<T>>
  readonly #running = new Map<string, Promise<Found<T>>>()

  constructor(options: CallCacheOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#known = tableOf(options)
    this.#refused = tableOf(options)
  }

  /**
   * Returns the value, or a promise if a call is necessary.
   * @throws whatever `ask` throws, if no stored value may be used instead.
   */
  get(key: string, ask: () => Promise<Found<T>>): T | Promise<T> {
    const kept = this.#known.get(key) ?? this.#refused.get(key)
    if (kept !== undefined) {
      const late = this.#now() - kept.freshUntil
      if (late < 0) return kept.value
      if (late < this.#options.revalidateMs) {
        // A caller after the expiry will see the failure.
        if (!this.#running.has(key)) this.#ask(key, ask).catch(() => {})
        return kept.value
      }
    }
    const running = this.#running.get(key)
    if (running === undefined) return this.#ask(key, ask).then(({ value }) => value)
    return running.then(({ value, isCallerSpecific }) =>
      isCallerSpecific ? ask().then((own) => own.value) : value,
    )
  }

  #ask(key: string, ask: () => Promise<Found<T>>): Promise<Found<T>> {
    const asked = this.#keep(key, ask).finally(() => this.#running.delete(key))
    this.#running.set(key, asked)
    return asked
  }

  async #keep(key: string, ask: () => Promise<Found<T>>): Promise<Found<T>> {
    try {
      const found = await ask()
      const { value, bytes, ttlMs, isNegative } = found
      this.#known.delete(key)
      this.#refused.delete(key)
      const table = isNegative ? this.#refused : this.#known
      if (ttlMs > 0) table.set(key, { value, bytes, freshUntil: this.#now() + ttlMs })
      return found
    } catch (error) {
      const kept = this.#known.peek(key) ?? this.#refused.peek(key)
      if (kept === undefined || this.#now() - kept.freshUntil >= this.#options.staleMs) throw error
      return { value: kept.value, bytes: kept.bytes, ttlMs: 0, isNegative: false, isCallerSpecific: false }
    }
  }
}

function tableOf<T extends object>({ maxEntries, maxBytes }: CallCacheOptions): LRUCache<string, Kept<T>> {
  return new LRUCache({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes + ENTRY_BYTES,
  })
}
