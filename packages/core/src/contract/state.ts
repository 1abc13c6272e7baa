/**
 * Sharing of a store: by all workers of this gateway (`gateway`), or by all gateways with the same `state`
 * server (`cluster`).
 */
export type StateScope = 'gateway' | 'cluster'

/** Maximum size of a stored value in bytes. Larger values cause a RangeError. */
export const MAX_STATE_VALUE_BYTES = 1024 * 1024

/** Rule of a limit: number of tokens per period. */
export interface LimitRule {
  /**
   * `gcra`: tokens are added at an even rate, and up to `burst` are kept. `fixed`: `limit` tokens per window.
   * `sliding`: like `fixed`, but the previous window counts in proportion to its overlap with the last
   * `periodMs` (an estimate).
   */
  readonly algorithm: 'gcra' | 'fixed' | 'sliding'
  /** Tokens per `periodMs`; at least 1. */
  readonly limit: number
  readonly periodMs: number
  /** Maximum burst size for `gcra`; at least 1. */
  readonly burst: number
  /**
   * Start of one of the windows for `fixed` and `sliding`, in milliseconds since the epoch; default 0. Needed
   * for calendar months.
   */
  readonly anchorMs?: number
}

/** Result of `StateStore.take`. */
export interface Grant {
  /** Tokens granted: an integer from 0 to the requested amount. */
  readonly granted: number
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Milliseconds until the next token is available, or 0 if all requested tokens were granted. */
  readonly retryAfterMs: number
  /** Milliseconds until all tokens are available again (`gcra`), or until the window ends. */
  readonly resetMs: number
}

/**
 * Key-value store shared by workers and replicas, for values, counters and limits. Use each key for one
 * purpose only. Keys can be any text. The end of a long key is hashed, so only prefixes of up to 100
 * characters work with `list` and `deleteAll`.
 *
 * Every method rejects with `StateUnavailable` if the store does not answer in time. The operation may or may
 * not have been carried out. The caller decides how to proceed.
 */
export interface StateStore {
  /** Returns the value, or null if the key has no value. */
  get(key: string): Promise<Uint8Array | null>
  /**
   * Stores a value.
   * @param ttlMs Time to live in milliseconds; at least 1.
   * @param only `absent` stores the value only if the key has none.
   * @returns False if `only` is `absent` and the key already has a value.
   */
  set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean>
  /** Deletes a value. Returns true if there was one. */
  delete(key: string): Promise<boolean>
  /**
   * Adds to a counter, which starts at 0, and returns the new value.
   * @param amount Integer. Negative numbers subtract, 0 reads.
   * @param ttlMs Lifetime in milliseconds, from the creation of the counter.
   */
  add(key: string, amount: number, ttlMs: number): Promise<number>
  /** Takes up to `amount` tokens atomically. 0 only reads the state. */
  take(key: string, rule: LimitRule, amount: number): Promise<Grant>
  /** Returns unused tokens. Tokens of a window that has ended are ignored. */
  giveBack(key: string, rule: LimitRule, amount: number): Promise<void>
  /**
   * Lists up to `most` keys with a prefix, in no particular order. Keys that change during the call may be
   * missing.
   */
  list(prefix: string, most: number): Promise<string[]>
  /** Deletes all keys with a prefix and returns their number. */
  deleteAll(prefix: string): Promise<number>
}

/** Stores available to policies. */
export interface StateStores {
  /** Returns a store. Without `state` in the configuration, `cluster` is the same as `gateway`. */
  store(scope: StateScope): StateStore
  /** True if `state` is configured, so that `cluster` stores are shared by all replicas. */
  readonly isShared: boolean
  /**
   * 32 random bytes that all workers of this gateway share, new at each start and never stored. Use them as
   * an HMAC key to derive store keys from guessable text such as passwords.
   */
  readonly secret: Uint8Array
}

/**
 * Error for a store that is unreachable, refuses the request or does not answer in time. The message contains
 * no secrets.
 */
export class StateUnavailable extends Error {
  override readonly name: string = 'StateUnavailable'
  /** True if only some keys are affected because one node of a cluster is unavailable. */
  readonly isPartial: boolean

  constructor(message: string, isPartial = false) {
    super(message)
    this.isPartial = isPartial
  }
}

/** Error for a store that is reachable but too slow. Do not continue its counts locally meanwhile. */
export class StateSlow extends StateUnavailable {
  override readonly name = 'StateSlow'
}
