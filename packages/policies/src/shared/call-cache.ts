import { LRUCache } from 'lru-cache'

/** What a call has found out, and how long it may be used. */
export interface Found<T> {
  readonly value: T
  /** 0: it is not kept. */
  readonly ttlMs: number
  /** Its size in memory, about. */
  readonly bytes: number
  /** A refusal: kept apart, so that those whom nobody knows cannot push out what is known of others. */
  readonly isNegative: boolean
  /** It is for who has asked alone: those who wait for it ask themselves. */
  readonly isForOne: boolean
}

export interface CallCacheOptions {
  /** Of each of the two kinds. */
  readonly maxEntries: number
  /** Of all values of a kind together. */
  readonly maxBytes: number
  /** How long after its time a value is still used while a new one is asked for in the background. */
  readonly revalidateMs: number
  /** How long after its time a value is still used when the call fails. */
  readonly staleMs: number
  /** The monotonic clock, ms. */
  readonly now?: () => number
}

interface Kept<T> {
  readonly value: T
  readonly bytes: number
  readonly freshUntil: number
}

/** An entry takes this much beside its value: its key, which is a digest, and the table. */
const ENTRY_BYTES = 300

/**
 * What calls to another server have found out, by key. All who ask for the same at one time wait for one call.
 *
 *     kept ───┬── in its time: used
 *             ├── revalidateMs after it: used, and asked again in the background
 *             └── staleMs after it: asked again, used when that fails
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

  /** A promise where it has to be asked for. @throws what `ask` throws, where nothing may be used in its place. */
  get(key: string, ask: () => Promise<Found<T>>): T | Promise<T> {
    const kept = this.#known.get(key) ?? this.#refused.get(key)
    if (kept !== undefined) {
      const late = this.#now() - kept.freshUntil
      if (late < 0) return kept.value
      if (late < this.#options.revalidateMs) {
        // Whoever comes when the time is over hears of a failure.
        if (!this.#running.has(key)) this.#ask(key, ask).catch(() => {})
        return kept.value
      }
    }
    const running = this.#running.get(key)
    if (running === undefined) return this.#ask(key, ask).then(({ value }) => value)
    return running.then(({ value, isForOne }) => (isForOne ? ask().then((own) => own.value) : value))
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
      return { value: kept.value, bytes: kept.bytes, ttlMs: 0, isNegative: false, isForOne: false }
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
