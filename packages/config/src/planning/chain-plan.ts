import type { PolicyUse } from '../plan/plan.js'
import type { Document, PolicyDocument, PolicyEntry, RouteDocument } from '../schema/document.js'
import { policyIdOf } from '../schema/policy-id.js'

/**
 * Expands the policy chains of routes: names of shared policies and groups are replaced with the policies.
 */
export class ChainPlanner {
  readonly #shared: ReadonlyMap<string, PolicyDocument>
  readonly #groups: Document['policyGroups']

  constructor({ policies, policyGroups }: Document) {
    this.#shared = new Map(policies.map((policy) => [policy.id, policy]))
    this.#groups = policyGroups
  }

  /** Returns the expanded chain of a route. @throws Error if the document was not checked */
  chainOf(route: RouteDocument): PolicyUse[] {
    return route.policies.flatMap((entry, i) => {
      const group = typeof entry === 'string' && Object.hasOwn(this.#groups, entry) ? entry : null
      if (group === null) return this.#stepsOf(entry, route.id, i)
      return this.#groups[group]!.flatMap((member, j) => this.#stepsOf(member, group, j))
    })
  }

  /** Returns the policy of an entry, or none if it is disabled. */
  #stepsOf(entry: PolicyEntry, owner: string, position: number): PolicyUse[] {
    const policy = typeof entry === 'string' ? this.#shared.get(entry) : entry
    if (policy === undefined) throw new Error('unchecked chain: unknown policy')
    if (!policy.enabled) return []
    const { use, when = null, onError } = policy
    return [{ id: policyIdOf(entry, owner, position), use, with: policy.with, when, onError }]
  }
}
