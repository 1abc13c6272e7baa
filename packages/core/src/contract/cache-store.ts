/** A value of a cache. */
export interface CachedValue {
  readonly bytes: Uint8Array
  /** Empty: nobody said. Comes from whoever wrote the value; check it before it becomes a header field. */
  readonly contentType: string
}

/** The most bytes of a value that caches take. */
export const MAX_CACHED_BYTES = 1000 * 1024

/**
 * Values that policies keep for a while, by space and key: in the memory of the gateway, or at the cache server that the
 * document names in `cache`. What is kept may be gone at any time.
 *
 * A space is 1 to 64 letters, digits, `.`, `_` and `-`; a key is 1 to 500 characters that stand in a path without
 * percent-encoding but for its `%`, without dot segments. Every call rejects with StateUnavailable when the store does not
 * answer in time, refuses, or cannot be reached.
 */
export interface CacheStore {
  /** Null: there is none. */
  get(space: string, key: string): Promise<CachedValue | null>
  /**
   * False: it is larger than the store takes.
   * @param ttlMs from now: 1 ms to 365 days.
   */
  put(space: string, key: string, value: CachedValue, ttlMs: number): Promise<boolean>
  /** It does not matter whether there was one. */
  delete(space: string, key: string): Promise<void>
  /** Forgets all of a space, by a look at all that is kept. */
  deleteAll(space: string): Promise<void>
}
