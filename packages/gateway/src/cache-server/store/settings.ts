import type { PersistPlan } from '@sluice/config'
import type { StoreMemory } from './cache-store.js'
import type { PersistAnswer, PersistCall } from './persist-calls.js'

/** Settings of one space. */
export interface SpaceSettings {
  readonly name: string
  /** Lifetime in milliseconds of entries without `ttl`; null until evicted. */
  readonly ttlMs: number | null
  /** Size of the space's own store in bytes; null to use the common store. */
  readonly maxBytes: number | null
}

/** Validated settings of a cache server. */
export interface CacheSettings {
  readonly host: string
  /** Port; 0 for any free one. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Required token, or null to allow anyone to read and write. */
  readonly token: string | null
  readonly workers: number
  /** Size of the common store in bytes. */
  readonly maxBytes: number
  /** Maximum value size in bytes. */
  readonly maxObjectBytes: number
  readonly ttlMs: number | null
  readonly spaces: readonly SpaceSettings[]
  /** Maximum number of connections per thread. */
  readonly connections: number
  /** Valkey persistence, or null. */
  readonly persist: PersistPlan | null
}

/** Memory that the threads of a server share. */
export interface SharedMemory {
  readonly common: StoreMemory
  /** Memory of spaces with their own store. */
  readonly own: readonly { readonly space: string; readonly memory: StoreMemory }[]
  /** Counters, one row per thread and one for the persistence. */
  readonly counters: SharedArrayBuffer
  /** Number of writes and removals by hash slot of the key, or null without Valkey persistence. */
  readonly writes: SharedArrayBuffer | null
}

/** Start data of a server thread. */
export interface ThreadData {
  readonly settings: CacheSettings
  readonly memory: SharedMemory
  /** Counter row of this thread. */
  readonly row: number
  /** Distinguishes entity tags of this server from those of a previous one. */
  readonly epoch: string
}

/** Message to a thread: stop accepting connections, exit, send a heartbeat, or the answer to a call. */
export type ToThread = 'drain' | 'end' | 'beat' | PersistAnswer

/** Message from a thread to the server. */
export type FromThread =
  | { readonly kind: 'listening' }
  | { readonly kind: 'cannot-listen'; readonly message: string }
  | { readonly kind: 'drained' }
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'persist'; readonly call: PersistCall }

/**
 * Message from the supervisor to its cache server: start, send a heartbeat once all threads respond, or stop.
 */
export type ToServer =
  | { readonly kind: 'serve'; readonly settings: CacheSettings }
  | { readonly kind: 'beat' }
  | { readonly kind: 'stop' }

/** Message from a cache server to its supervisor. */
export type FromServer =
  | { readonly kind: 'listening' }
  | { readonly kind: 'heartbeat'; readonly rssBytes: number }
  | { readonly kind: 'event'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'fault'; readonly message: string }
