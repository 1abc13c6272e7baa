/** What the requests to a cache came to, in the order of the words of a row. */
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

/** One of RESULTS. */
export type Result = (typeof RESULTS)[number]

const AT = Object.fromEntries(RESULTS.map((result, at) => [result, at])) as Readonly<Record<Result, number>>
/** Rows stand on cache lines of their own, so that threads do not take them from each other. */
const ROW = 16

/** Memory for the counters of so many threads. */
export function countersMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * ROW * 8)
}

/** Counts results; each thread writes its own row, and any can add them up. */
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
