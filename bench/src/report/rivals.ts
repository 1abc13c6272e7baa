import type { Point } from '../model/summary.js'
import { areCostsAlike } from './cost.js'

export const OURS = 'sluice'
/** Whom somebody else has started: its cores and its version are not known. */
export const TARGET = 'target'

/** The same measurement of several contestants. */
export interface Rivalry {
  /** Any of the points: what they have in common is read from it. */
  readonly sample: Point
  /** By contestant; only those that are results of what was asked for. */
  readonly points: ReadonlyMap<string, Point>
}

/** Measurements at saturation of which at least two contestants have such a result, in the order of the points. */
export function rivalries(points: readonly Point[], isResult: (point: Point) => boolean): Rivalry[] {
  const groups = new Map<string, Map<string, Point>>()
  for (const point of points.filter((each) => isResult(each) && each.kind === 'saturation')) {
    const key = `${point.suite} ${point.scenario} ${point.connections}`
    const group = groups.get(key) ?? new Map<string, Point>()
    groups.set(key, group.set(point.contestant, point))
  }
  return [...groups.values()]
    .filter((group) => group.size > 1)
    .map((group) => ({ sample: [...group.values()][0]!, points: group }))
}

/** CPU time a request of ours over that of a rival: below 1 ours needs less. NaN when one is missing, or they were not busy alike. */
export function cpuRatio({ points }: Rivalry, rival: string): number {
  const [ours, theirs] = [points.get(OURS), points.get(rival)]
  if (ours === undefined || theirs === undefined || !areCostsAlike(ours, theirs)) return Number.NaN
  return ours.cpuMicrosPerRequest.mean / theirs.cpuMicrosPerRequest.mean
}

/** Ours first, then the others by name, so that a contestant has the same colour in every chart of a run. */
export function contestantsOf(points: readonly Point[]): string[] {
  const names = [...new Set(points.map((point) => point.contestant))].sort()
  return names.includes(OURS) ? [OURS, ...names.filter((name) => name !== OURS)] : names
}
