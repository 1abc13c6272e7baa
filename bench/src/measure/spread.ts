import type { Spread } from '../model/summary.js'
import { mean } from '../statistics.js'

/** A figure over the repetitions; all 0 without values. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, stdev: 0, min: 0, max: 0, values: [] }
  const middle = mean(values)
  // Of a sample, hence one less: the repetitions stand for all that could have been made.
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
  const stdev = values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1))
  return { mean: middle, stdev, min: Math.min(...values), max: Math.max(...values), values }
}

/** A figure that nobody knows. */
export const UNKNOWN: Spread = {
  ...{ mean: Number.NaN, stdev: Number.NaN, min: Number.NaN, max: Number.NaN },
  values: [],
}

/** The coefficient of variation: how far the repetitions are apart, as a share of their mean. */
export function variation({ mean, stdev }: Spread): number {
  return mean === 0 ? 0 : stdev / mean
}
