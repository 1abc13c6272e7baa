import type { Point } from '../model/summary.js'

/** Saturation that rates can be taken of; null: it was not reached without errors. */
export function withoutErrors(point: Point | undefined): Point | null {
  if (point === undefined || point.perSecond.mean === 0) return null
  return Object.values(point.errors).some((count) => count > 0) ? null : point
}

/** What to tell of a rate that is a share of such a saturation; null: nothing. */
export function baseFlaw(saturation: Pick<Point, 'invalid'> | undefined): string | null {
  if (saturation === undefined || saturation.invalid.length === 0) return null
  return 'its saturation is no result, so that this rate is no share of it'
}
