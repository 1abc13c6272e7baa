import type { PersistPlan } from '@sluice/config'
import type { StoreMemory } from './cache-store.js'
import type { PersistAnswer, PersistCall, PersistMemory } from './persist/persist-calls.js'

/** What a space has of its own. */
export interface SpaceSettings {
  readonly name: string
  /** How long an entry stays that is put without `ttl`; null: until it is evicted. */
  readonly ttlMs: number | null
  /** A store of its own with so many bytes; null: it shares the common store with all other spaces. */
  readonly maxBytes: number | null
}

/** What a cache server does, checked. */
export interface CacheSettings {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Null: everybody may read and write. */
  readonly token: string | null
  readonly workers: number
  /** Of the common store. */
  readonly maxBytes: number
  /** Longest value. */
  readonly maxObjectBytes: number
  readonly ttlMs: number | null
  readonly spaces: readonly SpaceSettings[]
  /** Most connections to one thread. */
  readonly connections: number
  /** Where values outlive the server; null: nowhere. */
  readonly persist: PersistPlan | null
}

/** What a thread of the server gets of the others. */
export interface SharedMemory {
  readonly common: StoreMemory
  /** Of spaces that have a store of their own. */
  readonly own: readonly { readonly space: string; readonly memory: StoreMemory }[]
  /** A row of counters for each thread. */
  readonly counters: SharedArrayBuffer
  /** Null: nothing is kept in Valkey. */
  readonly persist: PersistMemory | null
}

/** From the server to a thread. */
export interface ThreadData {
  readonly settings: CacheSettings
  readonly memory: SharedMemory
  /** Of this thread. */
  readonly row: number
  /** Tells the entity tags of this server from those of one before it. */
  readonly epoch: string
}

/** Ends a thread: no new connections, then none at all; asks for a sign of life; or an answer to one of its calls. */
export type ToThread = 'drain' | 'end' | 'beat' | PersistAnswer

/** What a thread tells the server. */
export type FromThread =
  | { readonly kind: 'listening' }
  | { readonly kind: 'cannot-listen'; readonly message: string }
  | { readonly kind: 'drained' }
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'persist'; readonly call: PersistCall }

/** From the supervisor to a cache server that it runs: begin so, show that all threads work, or end. */
export type ToServer =
  | { readonly kind: 'serve'; readonly settings: CacheSettings }
  | { readonly kind: 'beat' }
  | { readonly kind: 'stop' }

/** What a cache server tells the supervisor that runs it. */
export type FromServer =
  | { readonly kind: 'listening' }
  | { readonly kind: 'heartbeat'; readonly rssBytes: number }
  | { readonly kind: 'event'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'fault'; readonly message: string }
