import type { Point } from '../model/summary.js'
import { variation } from './spread.js'
import { percent, type Verdict } from './validity.js'

/** More apart than that, and a point is measured once more. */
export const MOST_VARIATION = 0.05

type Measured = Pick<Point, 'perSecond' | 'cpuMicrosPerRequest' | keyof Verdict>

/** How far apart the repetitions of what is a result are, throughput before CPU time; 0 where nothing is one. */
export function unsteadiness(point: Measured): number {
  if (point.invalid.length === 0) return variation(point.perSecond)
  return point.costInvalid?.length === 0 ? variation(point.cpuMicrosPerRequest) : 0
}

/** What to tell of a point whose repetitions are far apart; null when they are not. It is a result all the same. */
export function spreadRemark(point: Measured): string | null {
  const share = unsteadiness(point)
  const what = point.invalid.length === 0 ? '' : ' in CPU time of a request'
  return share > MOST_VARIATION
    ? `the repetitions are ${percent(share)} apart${what} (coefficient of variation)`
    : null
}

/** Of two measurements of a point the one that is a result of more, and of equals the one whose repetitions agree better. */
export function steadierOf(first: Point, second: Point): Point {
  if (!isAsValid(second, first)) return first
  return !isAsValid(first, second) || unsteadiness(second) < unsteadiness(first) ? second : first
}

/** Whether every figure that is a result of the other is a result of this one. */
function isAsValid(one: Point, other: Point): boolean {
  const isLess = (list: readonly string[] = [], beside: readonly string[] = []): boolean =>
    list.length > 0 && beside.length === 0
  return !isLess(one.invalid, other.invalid) && !isLess(one.costInvalid, other.costInvalid)
}
