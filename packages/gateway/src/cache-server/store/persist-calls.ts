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

/** Memory shared by all threads of a persistent server. */
export interface PersistMemory {
  /** Number of writes and removals, by hash slot of the key. */
  readonly writes: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
}

const SLOTS = 65_536

/** Results of reading and writing values in Valkey. */
export const PERSIST_RESULTS = [
  'found',
  'absent',
  'late',
  'unusable',
  'written',
  'removed',
  'failed',
  'forgotten',
] as const

/** Result of reading or writing, one of PERSIST_RESULTS. */
export type PersistResult = (typeof PERSIST_RESULTS)[number]

/** Values after the results: Valkey in use (0 or 1), and the number of keys waiting to be written. */
const GAUGES = 2

/** Creates the memory for the threads of a server. */
export function persistMemory(): PersistMemory {
  return {
    writes: new SharedArrayBuffer(SLOTS * 4),
    counters: new SharedArrayBuffer((PERSIST_RESULTS.length + GAUGES) * 8),
  }
}

/** Returns the index in `writes` for a key with this hash. */
export function slotOf(hash: number): number {
  return hash & (SLOTS - 1)
}

/** Persistence counters of one server. One thread writes them, and any thread can read them. */
export class PersistCounters {
  readonly #values: Float64Array

  constructor(memory: PersistMemory) {
    this.#values = new Float64Array(memory.counters)
  }

  count(result: PersistResult): void {
    this.#values[PERSIST_RESULTS.indexOf(result)]!++
  }

  of(result: PersistResult): number {
    return this.#values[PERSIST_RESULTS.indexOf(result)]!
  }

  get isUsed(): number {
    return this.#values[PERSIST_RESULTS.length]!
  }

  get waiting(): number {
    return this.#values[PERSIST_RESULTS.length + 1]!
  }

  show(isUsed: boolean, waiting: number): void {
    this.#values[PERSIST_RESULTS.length] = isUsed ? 1 : 0
    this.#values[PERSIST_RESULTS.length + 1] = waiting
  }
}
