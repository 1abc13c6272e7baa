import type { PolicyUse } from '../plan/plan.js'
import type { Document, PolicyEntry, RouteDocument } from '../schema/document.js'
import { policyIdOf } from '../schema/policy-id.js'

/**
 * Returns a function that expands the policy chain of a route: names of shared policies and groups are
 * replaced with the policies. It throws an Error if the document was not checked.
 */
export function chainPlanner({ policies, policyGroups }: Document): (route: RouteDocument) => PolicyUse[] {
  const shared = new Map(policies.map((policy) => [policy.id, policy]))
  /** Returns the policy of an entry, or none if it is disabled. */
  const stepsOf = (entry: PolicyEntry, owner: string, position: number): PolicyUse[] => {
    const policy = typeof entry === 'string' ? shared.get(entry) : entry
    if (policy === undefined) throw new Error('unchecked chain: unknown policy')
    if (!policy.enabled) return []
    const { use, when = null, onError } = policy
    return [{ id: policyIdOf(entry, owner, position), use, with: policy.with, when, onError }]
  }
  return (route) =>
    route.policies.flatMap((entry, i) => {
      const group = typeof entry === 'string' && Object.hasOwn(policyGroups, entry) ? entry : null
      if (group === null) return stepsOf(entry, route.id, i)
      return policyGroups[group]!.flatMap((member, j) => stepsOf(member, group, j))
    })
}
