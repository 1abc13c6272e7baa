import type { PurgeOrder } from './cache-store.js'

/** Call from a server thread to the persistence thread. Keys are complete: `space/key`. */
export type PersistCall =
  /** Values were written, or their writes were attempted. */
  | { readonly kind: 'changed'; readonly keys: readonly string[] }
  | { readonly kind: 'load'; readonly id: number; readonly key: string }
  | { readonly kind: 'remove'; readonly id: number; readonly key: string }
  | { readonly kind: 'purge'; readonly id: number; readonly order: PurgeOrder }
  /** The memory scan of this thread's last purge is complete. */
  | { readonly kind: 'purged' }

/**
 * Result of a call. Load: the value is now in memory, or there is no usable one. Removal: Valkey had a value,
 * or none. Purge: `found`. `unknown`: Valkey has not confirmed.
 */
export type PersistOutcome = 'found' | 'absent' | 'unknown'

/** Answer to the call with this id. */
export interface PersistAnswer {
  readonly kind: 'answer'
  readonly id: number
  readonly outcome: PersistOutcome
}

const SLOTS = 65_536

/** Creates the memory in which the threads of a server count writes and removals, by hash slot of the key. */
export function writesMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS * 4)
}

/** Returns the slot of a key with this hash. */
export function slotOf(hash: number): number {
  return hash & (SLOTS - 1)
}
