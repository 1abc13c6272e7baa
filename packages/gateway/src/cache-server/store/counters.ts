/** Results of cache requests. */
export const RESULTS = [
  'hit',
  'miss',
  'not_modified',
  'stored',
  'kept',
  'removed',
  'absent',
  'purged',
  'refused',
] as const

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

/** Result of reading or writing in Valkey. */
export type PersistResult = (typeof PERSIST_RESULTS)[number]

/** A counter, or a gauge: Valkey in use (0 or 1), and the number of keys waiting to be written. */
type Name = (typeof RESULTS)[number] | `persist_${PersistResult}` | 'persist_up' | 'persist_waiting'

const NAMES: readonly Name[] = [
  ...RESULTS,
  ...PERSIST_RESULTS.map((result) => `persist_${result}` as const),
  'persist_up',
  'persist_waiting',
]
const AT = Object.fromEntries(NAMES.map((name, at) => [name, at])) as Readonly<Record<Name, number>>
/** Each row has its own cache lines, so that threads do not contend for them. */
const ROW = 24

/** Creates memory for the counters of this many threads. */
export function countersMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * ROW * 8)
}

/** Counts results. Each thread writes its own row, and any thread can sum them. */
export class Counters {
  readonly #all: Float64Array
  readonly #own: Float64Array

  constructor(memory: SharedArrayBuffer, row: number) {
    this.#all = new Float64Array(memory)
    this.#own = this.#all.subarray(row * ROW, (row + 1) * ROW)
  }

  count(name: Name): void {
    this.#own[AT[name]]!++
  }

  /** Sets a gauge, which only one thread does. */
  show(name: 'persist_up' | 'persist_waiting', value: number): void {
    this.#own[AT[name]] = value
  }

  sum(name: Name): number {
    let sum = 0
    for (let at = AT[name]; at < this.#all.length; at += ROW) sum += this.#all[at]!
    return sum
  }
}
