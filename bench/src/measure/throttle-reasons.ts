import type { Point, Throttling } from '../model/summary.js'
import type { Repetition } from './repetition.js'

/** From it on a percentile of every hundredth request may be the quota's. */
const MOST_THROTTLED = 0.01

/** The words for a contestant that its CPU quota held back too often for its point to be a result; empty when it did not. */
export function throttleReasons(repetitions: readonly Repetition[]): string[] {
  const { share, text } = heldBack(repetitions.map(({ throttling }) => throttling))
  return share >= MOST_THROTTLED ? [text] : []
}

/** The same for one that it held back more rarely; null when it never did. The point is a result all the same. */
export function throttleRemark({ perRepetition = [] }: Pick<Point, 'perRepetition'>): string | null {
  const { share, text } = heldBack(perRepetition.map(({ throttling }) => throttling))
  return share > 0 && share < MOST_THROTTLED ? text : null
}

function heldBack(all: readonly (Throttling | null | undefined)[]): {
  readonly share: number
  readonly text: string
} {
  const known = all.filter((one) => one !== null && one !== undefined)
  const periods = known.reduce((sum, one) => sum + one.periods, 0)
  const throttled = known.reduce((sum, { throttledPeriods }) => sum + throttledPeriods, 0)
  const text = `the CPU quota of the container was used up in ${throttled} of ${periods} periods`
  return { share: throttled / Math.max(1, periods), text }
}
