import type { Catalog } from '@sluice/core'
import type { RoutePlan } from '../plan/plan.js'

/** Change of the CPU time per request to a route, from the measured costs of its policies. */
export interface RouteCost {
  /** Sum of the measured costs in microseconds. Negative if requests take less time. */
  readonly addedMicros: number
  /** Policies that were added or removed. */
  readonly policies: readonly PolicyCostChange[]
}

/** Change of the CPU time because of one policy. */
interface PolicyCostChange {
  readonly use: string
  /** Number of added uses; negative if uses were removed. */
  readonly uses: number
  /** Microseconds, or null if the policy was never measured, as for plugins. */
  readonly addedMicros: number | null
}

/** Cost of all changed routes. */
export interface TotalCost {
  /** Number of routes in which policies were added or removed. */
  readonly routes: number
  /** Sum in microseconds: the cost of one request to each of these routes. */
  readonly addedMicros: number
  /** Names of policies without a measured cost. */
  readonly unmeasured: readonly string[]
}

/** Returns the cost of the policies that were added to a route or removed, or null if there are none. */
export function routeCost(old: RoutePlan | undefined, now: RoutePlan, catalog: Catalog): RouteCost | null {
  const uses = new Map<string, number>()
  for (const { use } of now.policies) uses.set(use, (uses.get(use) ?? 0) + 1)
  for (const { use } of old?.policies ?? []) uses.set(use, (uses.get(use) ?? 0) - 1)
  const policies = [...uses]
    .filter(([, count]) => count !== 0)
    .map(([use, count]): PolicyCostChange => {
      const measured = catalog.measured?.get(use)
      return { use, uses: count, addedMicros: measured ? rounded(measured.addedMicros * count) : null }
    })
  return policies.length === 0 ? null : { addedMicros: sumOf(policies), policies }
}

/** Returns the cost of all routes that have one. */
export function totalCost(changes: readonly { readonly cost?: RouteCost }[]): TotalCost {
  const costs = changes.flatMap(({ cost }) => cost ?? [])
  const unknown = costs.flatMap(({ policies }) => policies.filter((one) => one.addedMicros === null))
  const unmeasured = [...new Set(unknown.map(({ use }) => use))].sort()
  return { routes: costs.length, addedMicros: sumOf(costs), unmeasured }
}

/** Formats a cost, such as `+1.5 µs per request (jwt 1.1, header 0.4)`. */
export function routeCostText({ addedMicros, policies }: RouteCost): string {
  const isKnown = policies.some((one) => one.addedMicros !== null)
  const parts = policies.map(({ use, uses, addedMicros: micros }) =>
    micros === null ? `${uses < 0 ? 'without ' : ''}${use} not measured` : `${use} ${micros.toFixed(1)}`,
  )
  return `${isKnown ? `${signed(addedMicros)} µs` : 'unknown'} per request (${parts.join(', ')})`
}

/** Formats microseconds with their sign. */
export function signed(micros: number): string {
  return `${micros < 0 ? '' : '+'}${micros.toFixed(1)}`
}

function sumOf(costs: readonly { readonly addedMicros: number | null }[]): number {
  return rounded(costs.reduce((sum, { addedMicros }) => sum + (addedMicros ?? 0), 0))
}

function rounded(micros: number): number {
  return Math.round(micros * 10) / 10
}
