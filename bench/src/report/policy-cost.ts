import type { Point } from '../model/summary.js'
import { areCostsAlike, hasCost } from './cost.js'
import { policyRelation } from './scenario-relation.js'

/** What one policy adds to a request of ours. */
export interface PolicyCost {
  readonly policy: string
  /** The scenario without the policy, and with it. */
  readonly base: Point
  readonly withPolicy: Point
  /** CPU time. */
  readonly addedMicros: number
  /** The smallest and largest that the repetitions allow. */
  readonly range: readonly [number, number]
}

/** The policies whose scenario was measured with and without them, in the same way and about as busy. */
export function policyCosts(points: readonly Point[]): PolicyCost[] {
  const results = points.filter((point) => hasCost(point) && point.kind === 'saturation')
  return results.flatMap((withPolicy) => {
    const relation = policyRelation(withPolicy)
    const base = relation && results.find((point) => isSameBut(point, withPolicy, relation.base))
    return relation && base ? [costOf(relation.policy, base, withPolicy)] : []
  })
}

function isSameBut(point: Point, other: Point, scenario: string): boolean {
  return (
    point.scenario === scenario &&
    point.suite === other.suite &&
    point.contestant === other.contestant &&
    point.connections === other.connections &&
    areCostsAlike(point, other)
  )
}

function costOf(policy: string, base: Point, withPolicy: Point): PolicyCost {
  const [without, including] = [base.cpuMicrosPerRequest, withPolicy.cpuMicrosPerRequest]
  return {
    policy,
    base,
    withPolicy,
    addedMicros: including.mean - without.mean,
    range: [including.min - without.max, including.max - without.min],
  }
}
