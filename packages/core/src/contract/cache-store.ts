/** A cached value. */
export interface CachedValue {
  readonly bytes: Uint8Array
  /**
   * Media type, or empty if the writer gave none. The writer is not trusted: validate it before using it as a
   * header field.
   */
  readonly contentType: string
}

/** Maximum size of a cached value in bytes. */
export const MAX_CACHED_BYTES = 1000 * 1024

/**
 * Cache for values of policies, addressed by space and key. The values are in the gateway's memory, or on the
 * cache server configured under `cache`. A value may disappear at any time.
 *
 * A space is 1 to 64 letters, digits, `.`, `_` and `-`. A key is 1 to 500 characters that are valid in a URL
 * path without percent-encoding, or `%`. Dot segments are not allowed.
 *
 * Every method rejects with `StateUnavailable` if the store is unreachable, refuses the request or does not
 * answer in time.
 */
export interface CacheStore {
  /** Returns the value, or null if the key has no value. */
  get(space: string, key: string): Promise<CachedValue | null>
  /**
   * Stores a value.
   * @param ttlMs Time to live in milliseconds: 1 ms to 365 days.
   * @returns False if the value is larger than the store accepts.
   */
  put(space: string, key: string, value: CachedValue, ttlMs: number): Promise<boolean>
  /** Deletes a value, if there is one. */
  delete(space: string, key: string): Promise<void>
  /** Deletes all values of a space. This scans the whole store. */
  deleteAll(space: string): Promise<void>
}
