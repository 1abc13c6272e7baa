import type { Address } from './grammar/address.js'

/** The cache server that policies keep values at. */
export interface CachePlan {
  /** The origin. */
  readonly url: string
  readonly token: string | null
  readonly timeoutMs: number
  /** Of each worker. */
  readonly connections: number
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  /** The server that the supervisor runs; absent: it runs none. */
  readonly serve?: CacheServePlan
}

/** A cache server that the supervisor runs. */
export interface CacheServePlan extends Address {
  readonly workers: number
  /** Of the spaces that have no memory of their own. */
  readonly maxBytes: number
  /** Longest value. */
  readonly maxObjectBytes: number
  readonly ttlMs: number
  /** Most connections to one thread. */
  readonly connections: number
  /** `maxBytes` null: the memory of all. */
  readonly spaces: readonly {
    readonly name: string
    readonly ttlMs: number
    readonly maxBytes: number | null
  }[]
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Where values outlive the server; absent: nowhere. */
  readonly persist?: PersistPlan
}

/** The Valkey or Redis server that keeps the values of a cache server. */
export interface PersistPlan extends Omit<StatePlan, 'url' | 'cluster'> {
  /** `redis://` or `rediss://`, without a user. */
  readonly url: string
}

/** The Valkey or Redis server, or the cluster, that replicas share. */
export interface StatePlan {
  /** `redis://` or `rediss://`, without a user; null: it is a cluster. */
  readonly url: string | null
  /** URLs of nodes of a cluster, which name the others; none: it is one server. */
  readonly cluster: readonly string[]
  readonly username: string | null
  readonly password: string | null
  readonly keyPrefix: string
  readonly timeoutMs: number
  /** Average latency from which limits do without the server; absent: from none. */
  readonly slowAfterMs?: number
  readonly tls: {
    readonly caFile: string | null
    /** The name in the certificates; null: the host of each URL. */
    readonly serverName: string | null
    readonly insecure: boolean
  }
}
