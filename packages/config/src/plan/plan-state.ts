import type { Address } from './plan-listener.js'

/** Access to the cache server in which policies store values. */
export interface CachePlan {
  /** Origin of the server. */
  readonly url: string
  readonly token: string | null
  readonly timeoutMs: number
  /** Maximum number of connections per worker. */
  readonly connections: number
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  /** Cache server that the supervisor runs; absent: none. */
  readonly serve?: CacheServePlan
}

/** A cache server that the supervisor runs. */
export interface CacheServePlan extends Address {
  readonly workers: number
  /** Memory for spaces without their own `maxBytes`. */
  readonly maxBytes: number
  /** Size of the largest value. */
  readonly maxObjectBytes: number
  readonly ttlMs: number
  /** Maximum number of connections per thread. */
  readonly connections: number
  /** Spaces with their own settings. `maxBytes` is null if a space uses the common memory. */
  readonly spaces: readonly {
    readonly name: string
    readonly ttlMs: number
    readonly maxBytes: number | null
  }[]
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Store that keeps values across restarts; absent: none. */
  readonly persist?: PersistPlan
}

/** Valkey or Redis server that persists the values of a cache server. */
export interface PersistPlan extends Omit<StatePlan, 'url' | 'cluster'> {
  /** `redis://` or `rediss://` URL, without credentials. */
  readonly url: string
}

/** Valkey or Redis server or cluster for the state that replicas share. */
export interface StatePlan {
  /** `redis://` or `rediss://` URL, without credentials; null for a cluster. */
  readonly url: string | null
  /** URLs of cluster nodes, from which the others are discovered; empty for a single server. */
  readonly cluster: readonly string[]
  readonly username: string | null
  readonly password: string | null
  readonly keyPrefix: string
  readonly timeoutMs: number
  /** Average latency above which limits stop using the server; absent: never. */
  readonly slowAfterMs?: number
  readonly tls: {
    readonly caFile: string | null
    /** Server name in the certificates; null: the host of each URL. */
    readonly servername: string | null
    readonly insecure: boolean
  }
}
