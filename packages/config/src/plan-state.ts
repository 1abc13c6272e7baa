/** The cache server that policies keep values at. */
export interface CachePlan {
  /** The origin. */
  readonly url: string
  readonly token: string | null
  readonly timeoutMs: number
  /** Of each worker. */
  readonly connections: number
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
}

/** The Valkey or Redis server that replicas share. */
export interface StatePlan {
  /** `redis://` or `rediss://`, without a user. */
  readonly url: string
  readonly username: string | null
  readonly password: string | null
  readonly keyPrefix: string
  readonly timeoutMs: number
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
}
