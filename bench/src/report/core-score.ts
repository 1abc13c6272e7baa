import type { HostFacts, Point } from '../model/summary.js'
import { threeDigits } from './figures.js'
import { TARGET } from './rivals.js'

/** The heading of the figure below. */
export const CORE_SCORE_HEADING = 'per core-score'

/**
 * Requests a second over the CPU score of the cores that the contestant had: the figure that runs of other machines can
 * be compared by. Null where the rate was chosen rather than found, or the score is not known, or whose cores it had.
 */
export function perCoreScore(point: Point, { cpuScore, cpus }: HostFacts): number | null {
  if (point.kind === 'fixed-rate' && point.sloMicros === undefined) return null
  if (point.contestant === TARGET) return null
  const score = cpuScore * Math.min(point.workers, cpus)
  return score > 0 ? point.perSecond.mean / score : null
}

/** The same as text; `–` without it. */
export function coreScoreText(point: Point, host: HostFacts): string {
  return threeDigits(perCoreScore(point, host) ?? Number.NaN)
}
