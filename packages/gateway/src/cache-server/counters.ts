/** Results of cache requests, in the order of the words in a row. */
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

/** Result of a cache request, one of RESULTS. */
export type Result = (typeof RESULTS)[number]

const AT = Object.fromEntries(RESULTS.map((result, at) => [result, at])) as Readonly<Record<Result, number>>
/** Each row has its own cache lines, so that threads do not contend for them. */
const ROW = 16

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

  count(result: Result): void {
    this.#own[AT[result]]!++
  }

  sum(result: Result): number {
    let sum = 0
    for (let at = AT[result]; at < this.#all.length; at += ROW) sum += this.#all[at]!
    return sum
  }
}
