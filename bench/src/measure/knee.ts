import type { LoadResult } from '../model/engine.js'
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
