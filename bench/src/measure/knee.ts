import type { LoadResult } from '../model/engine.js'
import type { Repetition } from './repetition.js'
import { LEAST_OF_RATE, MOST_ERRORS } from './validity.js'

/** Each halves what is left of the range: six of them end within 1.3 % of the saturation. */
export const KNEE_STEPS = 6
/** Below a fifth of its saturation nobody runs a gateway, and nothing is to be found. */
const LEAST_SHARE = 0.2

/** One rate that was tried, and whether it was good enough. */
export interface KneeStep {
  readonly perSecond: number
  readonly isWithin: boolean
}

/** What a search ended with. */
export interface KneeOutcome {
  readonly perSecond: number
  readonly repetition: Repetition
  /** Why it is no highest rate; null: it is one. */
  readonly failure: string | null
}

/** The search for the highest rate of one contestant. */
export class KneeSearch {
  readonly #saturation: number
  readonly #sloMicros: number
  readonly #steps: (KneeStep & { readonly repetition: Repetition })[] = []

  constructor(saturation: number, sloMicros: number) {
    this.#saturation = saturation
    this.#sloMicros = sloMicros
  }

  /** The rate to try next; null: the search is at its end. */
  get next(): number | null {
    return nextRate(this.#saturation, this.#steps)
  }

  get repetitions(): Repetition[] {
    return this.#steps.map(({ repetition }) => repetition)
  }

  add(perSecond: number, repetition: Repetition): void {
    const isWithin = isWithinSlo(repetition.result, perSecond, this.#sloMicros)
    this.#steps.push({ perSecond, isWithin, repetition })
  }

  /** The best step; where none is good enough the lowest. Null before the end: half a search found half of a rate. */
  get outcome(): KneeOutcome | null {
    const rising = this.#steps.toSorted((a, b) => a.perSecond - b.perSecond)
    const best = rising.findLast(({ isWithin }) => isWithin)
    const step = best ?? rising[0]
    if (step === undefined || this.next !== null) return null
    const { perSecond, repetition } = step
    const limit = `${this.#sloMicros / 1000} ms`
    const failure = `no rate from ${perSecond} requests a second on had a P99 below ${limit}`
    return { perSecond, repetition, failure: best === undefined ? failure : null }
  }
}

/** The rate to try next, between what was good enough and what was not; null: the search is at its end. */
export function nextRate(saturation: number, steps: readonly KneeStep[]): number | null {
  if (steps.length >= KNEE_STEPS) return null
  const good = steps.filter(({ isWithin }) => isWithin).map(({ perSecond }) => perSecond)
  const bad = steps.filter(({ isWithin }) => !isWithin).map(({ perSecond }) => perSecond)
  const rate = Math.round((Math.max(saturation * LEAST_SHARE, ...good) + Math.min(saturation, ...bad)) / 2)
  return rate < 1 || good.includes(rate) || bad.includes(rate) ? null : rate
}

/** Whether a rate was held with a P99 below the limit and next to no errors. */
export function isWithinSlo(result: LoadResult | null, perSecond: number, sloMicros: number): boolean {
  if (result === null) return false
  const p99 = result.latency?.percentiles.find(({ percentile }) => percentile === 99)?.micros
  const errors = Object.values(result.errors).reduce((sum, count) => sum + count, 0)
  return (
    p99 !== undefined &&
    p99 < sloMicros &&
    errors < MOST_ERRORS * (result.requests + errors) &&
    result.requests >= perSecond * result.seconds * LEAST_OF_RATE
  )
}
