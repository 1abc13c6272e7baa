import type { Point } from '../model/summary.js'

/** The same measurement in two runs. */
export interface Pair {
  readonly before: Point
  readonly after: Point
}

/** Rates are shares of a saturation that is measured anew in each run, so the same step differs by a little. */
const RATE_TOLERANCE = 0.05

/** Finds for each point of one run the same measurement of the other; what has none is named. */
export function pairedPoints(
  before: readonly Point[],
  after: readonly Point[],
): { pairs: Pair[]; onlyBefore: Point[]; onlyAfter: Point[] } {
  const free = new Set(after)
  const pairs: Pair[] = []
  const onlyBefore: Point[] = []
  for (const point of before) {
    const match = closest(point, free)
    if (match === null) onlyBefore.push(point)
    else pairs.push({ before: point, after: match })
    if (match !== null) free.delete(match)
  }
  return { pairs, onlyBefore, onlyAfter: [...free] }
}

/**
 * Points that are in the earlier run alone and have vanished. A rate that follows from another saturation is another rate,
 * so that one which the later run has alone takes its place; all of them are results.
 */
export function vanished(onlyBefore: readonly Point[], onlyAfter: readonly Point[]): Point[] {
  const places = onlyAfter.map(keyOf)
  return onlyBefore.filter((point) => {
    const at = places.indexOf(keyOf(point))
    if (at >= 0) places.splice(at, 1)
    return at < 0
  })
}

function closest(point: Point, candidates: ReadonlySet<Point>): Point | null {
  const key = keyOf(point)
  const alike = [...candidates].filter(
    (each) => keyOf(each) === key && rateGap(point, each) <= RATE_TOLERANCE,
  )
  return alike.toSorted((a, b) => rateGap(point, a) - rateGap(point, b))[0] ?? null
}

function keyOf(point: Point): string {
  const { suite, scenario, contestant, connections, kind, sloMicros = null } = point
  return JSON.stringify([suite, scenario, contestant, connections, kind, sloMicros])
}

function rateGap(left: Point, right: Point): number {
  // A rate that was searched for is what is compared.
  if (left.sloMicros !== undefined || left.targetPerSecond === null || right.targetPerSecond === null)
    return 0
  return Math.abs(right.targetPerSecond / left.targetPerSecond - 1)
}
