import { bootstrapInterval, median, resampledMean, seededRandom } from '../lib/statistics.js'
import { LEAST_BUSY } from '../measure/validity.js'
import { OURS } from '../model/run.js'
import type { Point, Spread } from '../model/summary.js'
import { MARK, shareText, significant } from './figures.js'
import { groupedBy, policyRelation } from './relations.js'

/**
 * Maximum difference in core use of two comparable costs. A half-idle system costs up to 13 % more per request, a
 * difference of a tenth 3 %.
 */
const MOST_BUSY_GAP = 0.1

/** A point with a CPU time per request. */
export type CostPoint = Point & { readonly cpuMicrosPerRequest: Spread }

/** True if the CPU time per request is known, possibly with a warning. */
export function isCostKnown(point: Point): point is CostPoint {
  return point.cpuMicrosPerRequest !== null && (point.invalid.length === 0 || point.costInvalid.length === 0)
}

/** True if the CPU time per request is evidence. */
export function hasCost(point: Point): point is CostPoint {
  return point.cpuMicrosPerRequest !== null && point.costInvalid.length === 0
}

/** Formats a cost: `17.1`, `17.1 at 92 %`, `~17.1, cores shared`, or `–` if it is unknown. */
export function costText(point: Point): string {
  if (!isCostKnown(point)) return '–'
  return (hasCost(point) ? '' : MARK) + significant(point.cpuMicrosPerRequest.mean) + busyText(point)
}

/** Returns ` at 92 %` or similar for a system that was not fully used or not alone, else an empty string. */
export function busyText({ busyShare, sharesCores }: Point): string {
  const busy = busyShare !== null && busyShare < LEAST_BUSY ? ` at ${shareText(busyShare)}` : ''
  return sharesCores ? `${busy}, cores shared` : busy
}

/** Explains the notation of costs. */
export const COST_REMARK =
  'CPU µs "at 92 %": the system used 92 % of its cores. A request costs more at partial load and on shared cores than on fully used cores. A ratio has a ~ if the core use of the two systems differs by more than ten percentage points.'

/** True if the costs of two points are comparable: similar core use, both alone or both sharing. */
export function areCostsAlike(one: Point, other: Point): boolean {
  if (!hasCost(one) || !hasCost(other) || one.sharesCores !== other.sharesCores) return false
  // On shared cores there is no idle time, and at a rate the cost itself determines the core use.
  if (one.sharesCores || one.kind === 'fixed-rate') return true
  return Math.abs((one.busyShare ?? 1) - (other.busyShare ?? 1)) <= MOST_BUSY_GAP
}

/** Returns saturation points of the same measurement by system. */
export function comparablePoints(points: readonly Point[]): ReadonlyMap<string, CostPoint>[] {
  const costs = points.filter(isCostKnown).filter(({ kind }) => kind === 'saturation')
  return groupedBy(costs, ({ suite, scenario, connections }) => `${suite} ${scenario} ${connections}`)
    .map((group) => new Map(group.map((point) => [point.system, point])))
    .filter((group) => group.size > 1)
}

/** Ratio of our CPU time per request to that of a peer, with the range of the repetitions. */
export interface CpuRatio {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly repetitions: number
  /** True if a cost has a warning, or use of cores differed. */
  readonly isDoubtful: boolean
}

/**
 * Returns the ratio repetition by repetition, because these were measured side by side. Null if one is missing.
 */
export function cpuRatio(group: ReadonlyMap<string, CostPoint>, peer: string): CpuRatio | null {
  const [ours, theirs] = [group.get(OURS), group.get(peer)]
  if (ours === undefined || theirs === undefined) return null
  const [own, other] = [ours.cpuMicrosPerRequest.values, theirs.cpuMicrosPerRequest.values]
  const ratios = own.slice(0, other.length).map((micros, i) => micros / other[i]!)
  const isDoubtful = !areCostsAlike(ours, theirs)
  const range = { min: Math.min(...ratios), max: Math.max(...ratios) }
  return { median: median(ratios), ...range, repetitions: ratios.length, isDoubtful }
}

/** Cost of one policy in our gateway. */
export interface PolicyCost {
  readonly policy: string
  /** Scenario without the policy, and with it. */
  readonly base: CostPoint
  readonly withPolicy: CostPoint
  readonly addedMicros: number
  /** 95 % interval of the cost in microseconds. Null with fewer than `LEAST_PAIRS` repetitions. */
  readonly interval: readonly [number, number] | null
}

/** Minimum number of repetitions for an interval. Of fewer, a resampling knows too few values. */
export const LEAST_PAIRS = 5

/** Returns the costs of policies that were measured with and without them under similar conditions. */
export function policyCosts(points: readonly Point[]): PolicyCost[] {
  const results = points
    .filter(isCostKnown)
    .filter(({ kind, system }) => kind === 'saturation' && system === OURS)
  return results.flatMap((withPolicy) => {
    const relation = policyRelation(withPolicy)
    const base = results.find(
      (point) =>
        point.scenario === relation?.base &&
        point.suite === withPolicy.suite &&
        point.connections === withPolicy.connections &&
        (withPolicy.pairedWith === point.scenario || areCostsAlike(point, withPolicy)),
    )
    if (relation === null || base === undefined) return []
    const addedMicros = withPolicy.cpuMicrosPerRequest.mean - base.cpuMicrosPerRequest.mean
    const interval = costInterval(base, withPolicy)
    return [{ policy: relation.policy, base, withPolicy, addedMicros, interval }]
  })
}

/** Resamples the differences of pairs, or both points independently if they were not measured in pairs. */
function costInterval(base: CostPoint, withPolicy: CostPoint): PolicyCost['interval'] {
  const [without, including] = [base.cpuMicrosPerRequest.values, withPolicy.cpuMicrosPerRequest.values]
  if (Math.min(without.length, including.length) < LEAST_PAIRS) return null
  // The seed is fixed, so that a report of the same run has the same interval.
  const random = seededRandom(withPolicy.scenario)
  if (withPolicy.pairedWith !== base.scenario || without.length !== including.length)
    return bootstrapInterval(() => resampledMean(including, random) - resampledMean(without, random))
  const differences = including.map((micros, i) => micros - without[i]!)
  return bootstrapInterval(() => resampledMean(differences, random))
}
