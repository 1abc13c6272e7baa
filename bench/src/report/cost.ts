import { median } from '../lib/statistics.js'
import { LEAST_BUSY } from '../measure/validity.js'
import { OURS } from '../model/run.js'
import type { Point, Spread } from '../model/summary.js'
import { shareText, significant } from './figures.js'
import { groupedBy, policyRelation } from './relations.js'

/**
 * Maximum difference in core use of two comparable costs. A half-idle system costs up to 13 % more per request, a
 * difference of a tenth 3 %.
 */
const MOST_BUSY_GAP = 0.1

/** A point with a valid CPU time per request. Its throughput may be invalid. */
export type CostPoint = Point & { readonly cpuMicrosPerRequest: Spread }

/** True if the CPU time per request is valid. */
export function hasCost(point: Point): point is CostPoint {
  return point.cpuMicrosPerRequest !== null && point.costInvalid.length === 0
}

/** Formats a cost: `17.1`, `17.1 at 92 %`, `17.1, cores shared`, or `–` if it is not valid. */
export function costText(point: Point): string {
  return hasCost(point) ? significant(point.cpuMicrosPerRequest.mean) + busyText(point) : '–'
}

/** Returns ` at 92 %` or similar for a system that was not fully used or not alone, else an empty string. */
export function busyText({ busyShare, sharesCores }: Point): string {
  const busy = busyShare !== null && busyShare < LEAST_BUSY ? ` at ${shareText(busyShare)}` : ''
  return sharesCores ? `${busy}, cores shared` : busy
}

/** Explains the notation of costs. */
export const COST_REMARK =
  'CPU µs "at 92 %": the system used 92 % of its cores. A request costs more then than at full load, because fewer are taken at a time, and more on cores that are shared. A ratio is reported only of systems that were busy alike, within ten points.'

/** True if the costs of two points are comparable: similar core use, both alone or both sharing. */
export function areCostsAlike(one: Point, other: Point): boolean {
  if (!hasCost(one) || !hasCost(other) || one.sharesCores !== other.sharesCores) return false
  // On shared cores there is no idle time, and at a rate the cost itself determines the core use.
  if (one.sharesCores || one.kind === 'fixed-rate') return true
  return Math.abs((one.busyShare ?? 1) - (other.busyShare ?? 1)) <= MOST_BUSY_GAP
}

/** Returns saturation points of the same measurement by system. */
export function comparablePoints(points: readonly Point[]): ReadonlyMap<string, CostPoint>[] {
  const costs = points.filter(hasCost).filter(({ kind }) => kind === 'saturation')
  return groupedBy(costs, ({ suite, scenario, connections }) => `${suite} ${scenario} ${connections}`)
    .map((group) => new Map(group.map((point) => [point.system, point])))
    .filter((group) => group.size > 1)
}

/** Ratio of our CPU time per request to that of a peer, with the range of the repetitions. */
export interface CpuRatio {
  readonly median: number
  readonly min: number
  readonly max: number
}

/**
 * Returns the ratio repetition by repetition, because these were measured side by side. Null if one is missing or
 * core use differed.
 */
export function cpuRatio(group: ReadonlyMap<string, CostPoint>, peer: string): CpuRatio | null {
  const [ours, theirs] = [group.get(OURS), group.get(peer)]
  if (ours === undefined || theirs === undefined || !areCostsAlike(ours, theirs)) return null
  const [own, other] = [ours.cpuMicrosPerRequest.values, theirs.cpuMicrosPerRequest.values]
  const ratios = own.slice(0, other.length).map((micros, i) => micros / other[i]!)
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) }
}

/** Cost of one policy in our gateway. */
export interface PolicyCost {
  readonly policy: string
  /** Scenario without the policy, and with it. */
  readonly base: CostPoint
  readonly withPolicy: CostPoint
  readonly addedMicros: number
  /** Range that the repetitions allow. */
  readonly range: readonly [number, number]
}

/** Returns the costs of policies that were measured with and without them under similar conditions. */
export function policyCosts(points: readonly Point[]): PolicyCost[] {
  const results = points
    .filter(hasCost)
    .filter(({ kind, system }) => kind === 'saturation' && system === OURS)
  return results.flatMap((withPolicy) => {
    const relation = policyRelation(withPolicy)
    const base = results.find(
      (point) =>
        point.scenario === relation?.base &&
        point.suite === withPolicy.suite &&
        point.connections === withPolicy.connections &&
        areCostsAlike(point, withPolicy),
    )
    if (relation === null || base === undefined) return []
    const [without, including] = [base.cpuMicrosPerRequest, withPolicy.cpuMicrosPerRequest]
    const range = [including.min - without.max, including.max - without.min] as const
    return [{ policy: relation.policy, base, withPolicy, addedMicros: including.mean - without.mean, range }]
  })
}
