import type { PurgeOrder } from '../cache-store.js'

/** What a thread asks of the one that keeps values in Valkey. Keys are whole: `space/key`. */
export type PersistCall =
  /** Values were put, or were to be. */
  | { readonly kind: 'changed'; readonly keys: readonly string[] }
  | { readonly kind: 'load'; readonly id: number; readonly key: string }
  | { readonly kind: 'remove'; readonly id: number; readonly key: string }
  | { readonly kind: 'purge'; readonly id: number; readonly order: PurgeOrder }
  /** The memory has been looked through for the last purge of this thread. */
  | { readonly kind: 'purged' }

/**
 * To a load: it is in the memory now, or there is none that can be used. To a removal: there was one in Valkey, or none; to a
 * purge `found`. `unknown`: Valkey has not confirmed it.
 */
export type PersistOutcome = 'found' | 'absent' | 'unknown'

/** The answer to a call with this id. */
export interface PersistAnswer {
  readonly kind: 'answer'
  readonly id: number
  readonly outcome: PersistOutcome
}

/** What all threads share where values are kept in Valkey. */
export interface PersistMemory {
  /** How often keys were written or removed, by a part of their hash. */
  readonly writes: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
}

const SLOTS = 65_536

/** What became of values on their way to Valkey and back. */
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

/** One of PERSIST_RESULTS. */
export type PersistResult = (typeof PERSIST_RESULTS)[number]

/** Behind the results: whether Valkey is used (0 or 1), and how many keys wait to be written. */
const GAUGES = 2

/** Memory for the threads of a server. */
export function persistMemory(): PersistMemory {
  return {
    writes: new SharedArrayBuffer(SLOTS * 4),
    counters: new SharedArrayBuffer((PERSIST_RESULTS.length + GAUGES) * 8),
  }
}

/** Which of the words of `writes` is that of a key with this hash. */
export function slotOf(hash: number): number {
  return hash & (SLOTS - 1)
}

/** The numbers of one server; one thread writes them, and any can read them. */
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
