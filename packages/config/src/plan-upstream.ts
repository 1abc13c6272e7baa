/** What of a request a hash or a side is chosen by. */
export type HashKey =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string }
  | { readonly kind: 'claim'; readonly name: string }
  | { readonly kind: 'consumer' }
  | { readonly kind: 'ip' }

/** A header or cookie that a request has; value null: whatever its value. */
export interface RequestMatch {
  readonly kind: 'header' | 'cookie'
  readonly name: string
  readonly value: string | null
}

export interface StickyPlan {
  readonly cookie: string
  readonly secret: string
  /** Null: as long as the client is open. */
  readonly ttlMs: number | null
  readonly path: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
}

export interface CanaryPlan {
  /** 0 to 1. */
  readonly percent: number
  readonly key: HashKey
  readonly match: readonly RequestMatch[]
  readonly abort: CanaryAbortPlan | null
}

export interface CanaryAbortPlan {
  /** Share above that of the primaries, 0 to 1; null: errors do not count. */
  readonly errors: number | null
  /** Mean time above that of the primaries; null: time does not count. */
  readonly slowerMs: number | null
  readonly windowMs: number
  readonly minRequests: number
  readonly cooldownMs: number
}

export interface MirrorPlan {
  /** 0 to 1. */
  readonly percent: number
  /** Per worker. */
  readonly concurrency: number
  readonly maxBodyBytes: number
  readonly timeoutMs: number
  readonly compare: MirrorComparePlan | null
}

export interface MirrorComparePlan {
  /** Lower case. */
  readonly headers: readonly string[]
  readonly json: boolean
  readonly maxBodyBytes: number
}
