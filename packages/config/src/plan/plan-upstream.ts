/** Part of a request that is hashed to choose a target or the canary. */
export type HashKey =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string }
  | { readonly kind: 'claim'; readonly name: string }
  | { readonly kind: 'consumer' }
  | { readonly kind: 'ip' }

/** A header or cookie of a request; value null: any value. */
export interface RequestMatch {
  readonly kind: 'header' | 'cookie'
  readonly name: string
  readonly value: string | null
}

/** Sticky sessions. */
export interface StickyPlan {
  readonly cookie: string
  readonly secret: string
  /** Lifetime of the cookie; null: until the browser is closed. */
  readonly ttlMs: number | null
  readonly path: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
}

/** Selection of requests for the canary. */
export interface CanaryPlan {
  /** Share of keys, 0 to 1. */
  readonly percent: number
  readonly key: HashKey
  readonly match: readonly RequestMatch[]
  readonly abort: CanaryAbortPlan | null
}

/** Conditions that stop the canary. */
export interface CanaryAbortPlan {
  /** Error rate above that of the primaries, 0 to 1; null: errors are not compared. */
  readonly errors: number | null
  /** Mean time above that of the primaries; null: times are not compared. */
  readonly slowerMs: number | null
  readonly windowMs: number
  readonly minRequests: number
  readonly cooldownMs: number
}

/** Mirroring of requests. */
export interface MirrorPlan {
  /** Share of requests, 0 to 1. */
  readonly percent: number
  /** Maximum number of mirrored requests in flight per worker. */
  readonly concurrency: number
  readonly maxBodyBytes: number
  readonly timeoutMs: number
  readonly compare: MirrorComparePlan | null
}

/** Comparison of mirrored responses. */
export interface MirrorComparePlan {
  /** Names of headers to compare, in lower case. */
  readonly headers: readonly string[]
  readonly json: boolean
  readonly maxBodyBytes: number
}
