/** Who sees what a store holds: all workers of this gateway, or all gateways that have the same server in `state`. */
export type StateScope = 'gateway' | 'cluster'

/** The most bytes of a value that a store takes; more is a RangeError. */
export const MAX_STATE_VALUE_BYTES = 1024 * 1024

/** How many tokens there are in which time. */
export interface LimitRule {
  /**
   * `gcra`: tokens come evenly, and up to `burst` of them wait. `fixed`: `limit` tokens a window. `sliding`: the same,
   * where a part of the window before counts as long as it lies within `periodMs` (evenly spread, an estimate).
   */
  readonly algorithm: 'gcra' | 'fixed' | 'sliding'
  /** Tokens in `periodMs`, at least 1. */
  readonly limit: number
  readonly periodMs: number
  /** The most tokens at once (`gcra`), at least 1. */
  readonly burst: number
  /** `fixed` and `sliding`: when one of the windows begins, ms since 1970; default 0. For windows that are months. */
  readonly anchorMs?: number
}

/** What `take` answers. */
export interface Grant {
  /** A whole number between 0 and what was asked for. */
  readonly granted: number
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Ms until one more token comes; 0 when all that were asked for were granted. */
  readonly retryAfterMs: number
  /** Ms until all tokens are there again (`gcra`), or the window ends. */
  readonly resetMs: number
}

/**
 * What workers and replicas share: values, counters and limits by key. A key is used in one way only. Keys are any text;
 * long ones are hashed behind their beginning, so prefixes of up to 100 characters are safe to list and delete.
 *
 * Every call rejects with StateUnavailable when the store does not answer within its deadline, and then it may have
 * been carried out or not. Who calls it says what happens then.
 */
export interface StateStore {
  /** Null: there is none. */
  get(key: string): Promise<Uint8Array | null>
  /**
   * False: there was one already, and only an absent one was to be set.
   * @param ttlMs from now, at least 1.
   */
  set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean>
  /** Whether there was one. */
  delete(key: string): Promise<boolean>
  /**
   * Adds to a counter, which begins with 0, and answers the sum.
   * @param amount a whole number; negative ones subtract, 0 reads.
   * @param ttlMs from when the counter began.
   */
  add(key: string, amount: number, ttlMs: number): Promise<number>
  /** Takes as many tokens of a limit as there are, up to `amount`, in one step; 0 looks only. */
  take(key: string, rule: LimitRule, amount: number): Promise<Grant>
  /** Gives back tokens that were not used; those of a window that has ended are forgotten. */
  giveBack(key: string, rule: LimitRule, amount: number): Promise<void>
  /** The keys that begin with a text, in no order, `most` of them at most; one that changes meanwhile may be missing. */
  list(prefix: string, most: number): Promise<string[]>
  /** Deletes the keys that begin with a text, and answers how many they were. */
  deleteAll(prefix: string): Promise<number>
}

/** The stores that policies can use. */
export interface StateStores {
  /** `cluster` is the same as `gateway` where the document has no `state`. */
  store(scope: StateScope): StateStore
  /** The document has `state`: what is kept for the cluster is shared by all replicas. */
  readonly isShared: boolean
  /**
   * 32 random bytes that the workers of this gateway have, and no store; others with each start. A key of HMAC makes texts
   * that can be guessed, such as passwords, into keys of a store.
   */
  readonly secret: Uint8Array
}

/** The store did not answer in time, refused, or cannot be reached; the message says which, without secrets. */
export class StateUnavailable extends Error {
  override readonly name: string = 'StateUnavailable'
  /** Other keys can be asked for: it is a node of a cluster that does not answer. */
  readonly isPartial: boolean

  constructor(message: string, isPartial = false) {
    super(message)
    this.isPartial = isPartial
  }
}

/** Error for a store that is reachable but too slow. Its counts must not be kept elsewhere meanwhile. */
export class StateSlow extends StateUnavailable {
  override readonly name = 'StateSlow'
}
