import { LEAST_BUSY } from '../measure/validity.js'
import { OURS } from '../model/run.js'
import type { Point, Spread } from '../model/summary.js'
import { median } from '../statistics.js'
import { shareText, significant } from './figures.js'
import { groupedBy, policyRelation } from './relations.js'

/**
 * What a request costs changes with how busy its server is, so that two costs are held against each other within this
 * difference only. Half as busy cost up to 13 % more; a tenth costs 3 %.
 */
const MOST_BUSY_GAP = 0.1

/** A point whose CPU time of a request is a result, which it can be where throughput is none. */
export type CostPoint = Point & { readonly cpuMicrosPerRequest: Spread }

export function hasCost(point: Point): point is CostPoint {
  return point.cpuMicrosPerRequest !== null && point.costInvalid.length === 0
}

/** `17.1`, `17.1 at 92 %` of a system that was not full, `17.1, cores shared`; `–` where it is no result. */
export function costText(point: Point): string {
  return hasCost(point) ? significant(point.cpuMicrosPerRequest.mean) + busyText(point) : '–'
}

/** ` at 92 %`: what has to be known of a system that was not full or not alone; else empty. */
export function busyText({ busyShare, sharesCores }: Point): string {
  const busy = busyShare !== null && busyShare < LEAST_BUSY ? ` at ${shareText(busyShare)}` : ''
  return sharesCores ? `${busy}, cores shared` : busy
}

/** What the words after a CPU time mean. */
export const COST_REMARK =
  'CPU µs "at 92 %": the system used 92 % of its cores. A request costs more then than at full load, because fewer are taken at a time, and more on cores that are shared. A ratio is reported only of systems that were busy alike, within ten points.'

/** Whether the costs of two points say something of each other: both systems were about as busy, and as alone. */
export function areCostsAlike(one: Point, other: Point): boolean {
  if (!hasCost(one) || !hasCost(other) || one.sharesCores !== other.sharesCores) return false
  // On shared cores nobody waits for work; at a rate it is the cost that says how busy a system is.
  if (one.sharesCores || one.kind === 'fixed-rate') return true
  return Math.abs((one.busyShare ?? 1) - (other.busyShare ?? 1)) <= MOST_BUSY_GAP
}

/** The same measurement at saturation of several systems, by their names. */
export function comparablePoints(points: readonly Point[]): ReadonlyMap<string, CostPoint>[] {
  const costs = points.filter(hasCost).filter(({ kind }) => kind === 'saturation')
  return groupedBy(costs, ({ suite, scenario, connections }) => `${suite} ${scenario} ${connections}`)
    .map((group) => new Map(group.map((point) => [point.system, point])))
    .filter((group) => group.size > 1)
}

/** CPU time a request of ours over that of a peer, with the smallest and largest of the repetitions. */
export interface CpuRatio {
  readonly median: number
  readonly min: number
  readonly max: number
}

/**
 * Repetition by repetition, because each was measured beside the other on the same machine, as busy as it was then; null
 * when one is missing, or they were not busy alike.
 */
export function cpuRatio(group: ReadonlyMap<string, CostPoint>, peer: string): CpuRatio | null {
  const [ours, theirs] = [group.get(OURS), group.get(peer)]
  if (ours === undefined || theirs === undefined || !areCostsAlike(ours, theirs)) return null
  const [own, other] = [ours.cpuMicrosPerRequest.values, theirs.cpuMicrosPerRequest.values]
  const ratios = own.slice(0, other.length).map((micros, i) => micros / other[i]!)
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) }
}

/** What one policy adds to a request of ours. */
export interface PolicyCost {
  readonly policy: string
  /** The scenario without the policy, and with it. */
  readonly base: CostPoint
  readonly withPolicy: CostPoint
  readonly addedMicros: number
  /** The smallest and largest that the repetitions allow. */
  readonly range: readonly [number, number]
}

/** The policies whose scenario was measured with and without them, in the same way and about as busy. */
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
