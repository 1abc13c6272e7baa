import { formatSize } from '@sluice/core'
import type { PolicyCost } from '../report/policy-cost.js'
import type { CostShare, Evidence, WholeWish } from './evidence.js'

/** What the wished policies add: each as it was measured alone, with the body that comes closest. */
export function costOfPolicies(costs: readonly PolicyCost[], wish: WholeWish): Evidence {
  const found = wish.policies.map((policy) => ({ policy, cost: nearest(policy, costs, wish) }))
  const known = found.flatMap(({ policy, cost }) => (cost === null ? [] : [{ policy, cost }]))
  const several = known.length > 1 ? ['policies are taken to cost together what each costs alone'] : []
  return {
    shares: known.map(
      ({ policy, cost }): CostShare => ({ what: policy, micros: Math.max(0, cost.addedMicros) }),
    ),
    usedPoints: known.flatMap(({ cost }) => [cost.base, cost.withPolicy]),
    notes: [...known.flatMap(({ policy, cost }) => bodyNote(policy, cost, wish)), ...several],
    missing: found
      .filter(({ cost }) => cost === null)
      .map(({ policy }) => `the policy ${policy}: gw bench policy ${policy}`),
  }
}

/** The nearest size; of several at that size the dearest. */
function nearest(policy: string, costs: readonly PolicyCost[], wish: WholeWish): PolicyCost | null {
  const gap = (cost: PolicyCost): number => Math.abs(bytesOf(cost) - wish.bodyBytes)
  const own = costs.filter((cost) => cost.policy === policy)
  return own.toSorted((a, b) => gap(a) - gap(b) || b.addedMicros - a.addedMicros)[0] ?? null
}

function bodyNote(policy: string, cost: PolicyCost, { bodyBytes }: WholeWish): string[] {
  if (bodyBytes <= bytesOf(cost) * 1.05) return []
  const size = bytesOf(cost) === 0 ? 'without a body' : `with ${formatSize(bytesOf(cost))}`
  return [`${policy} was measured ${size}: with ${formatSize(bodyBytes)} it costs more if it reads the body`]
}

function bytesOf({ withPolicy }: PolicyCost): number {
  return withPolicy.bodyBytes
}
