import type { Catalog } from '@sluice/core'
import { canonicalJson } from '../plan/digest.js'
import type { ConfigBundle, Plan, RoutePlan } from '../plan/plan.js'
import { unpackBundle, withoutCommonRoutes } from '../resolve/packed-bundle.js'
import { plainReference } from '../template/json-template.js'
import { shownReference } from '../template/text-template.js'
import { displayPlan } from './display-plan.js'
import { differences } from './plan-difference.js'
import { type RouteCost, routeCost, routeCostText } from './route-cost.js'

/** Part of a plan that a change is about. */
export type PlanPart =
  | 'environment'
  | 'listener'
  | 'admin'
  | 'workers'
  | 'upstream'
  | 'route'
  | 'log'
  | 'metrics'
  | 'tracing'
  | 'drain'
  | 'overload'
  | 'state'
  | 'cache'
  | 'kubernetes'
  | 'vault'
  | 'control'
  | 'plugin'
  | 'reference'

/** A part of a plan that was added, changed or removed. */
export interface PlanChange {
  readonly kind: 'add' | 'change' | 'remove'
  readonly what: PlanPart
  /** Id of the route, name of the upstream, address of the listener, or reference. Empty for unique parts. */
  readonly name: string
  /** Changed settings; for other kinds at most a summary. Secrets are masked. */
  readonly details: readonly string[]
  /** Cost of the policies that were added to a route or removed. Absent for other changes. */
  readonly cost?: RouteCost
}

/**
 * Compares two plans. Returns an empty list if nothing changes; order is ignored where it has no effect.
 * @param catalog marks the secret settings of policies; without it no policy settings are shown
 */
export function diffPlans(
  before: Plan | null,
  after: Plan,
  catalog: Catalog = new Map(),
): readonly PlanChange[] {
  const old = before === null ? new Map<string, Part>() : partsOf(before, catalog)
  const now = partsOf(before === null ? withoutPolicies(after) : after, catalog)
  const removed = [...old].filter(([key]) => !now.has(key)).map(([, part]) => changeOf('remove', part, []))
  const others = [...now].flatMap(([key, part]) => addedOrChanged(old.get(key), part))
  const former = new Map(before?.routes.map((route) => [route.id, route]))
  const routes = new Map(after.routes.map((route) => [route.id, route]))
  return [...others.map(withCost), ...removed]

  function withCost(change: PlanChange): PlanChange {
    const route = change.what === 'route' ? routes.get(change.name) : undefined
    const cost = route === undefined ? null : routeCost(former.get(route.id), route, catalog)
    return cost === null ? change : { ...change, cost }
  }
}

/** Returns the plan without policies. The diff shows no policies of new routes, and masking many of them takes seconds. */
function withoutPolicies(plan: Plan): Plan {
  return { ...plan, routes: plan.routes.map((route) => ({ ...route, policies: [] })) }
}

/**
 * Compares two bundles: their plans, and the values of references that both have. The values themselves are
 * not reported.
 */
export function diffBundles(
  before: ConfigBundle | null,
  after: ConfigBundle,
  catalog: Catalog,
): readonly PlanChange[] {
  const old = before?.values ?? {}
  const changed = Object.entries(after.values)
    .filter(([reference, value]) => Object.hasOwn(old, reference) && old[reference] !== value)
    .map(([reference]) => shownReference(plainReference(reference)))
  const ofValues = [...new Set(changed)]
    .sort()
    .map((name): PlanChange => ({ kind: 'change', what: 'reference', name, details: ['value changed'] }))
  if (before === null) return [...diffPlans(null, unpackBundle(after).plan, catalog), ...ofValues]
  const [former, latter] = withoutCommonRoutes(before, after)
  return [...diffPlans(former.plan, latter.plan, catalog), ...ofValues]
}

/** Formats changes as lines: `+` added, `~` changed, `-` removed, with the details and the cost below. */
export function formatDiff(changes: readonly PlanChange[]): string[] {
  const signs = { add: '+', change: '~', remove: '-' } as const
  return changes.flatMap(({ kind, what, name, details, cost }) => [
    `${signs[kind]} ${what}${name === '' ? '' : ` ${name}`}`,
    ...details.map((detail) => `    ${detail}`),
    ...(cost === undefined ? [] : [`    cost: ${routeCostText(cost)}`]),
  ])
}

/** A part of a plan, with the value to compare and the value to show. */
interface Part {
  readonly what: PlanPart
  readonly name: string
  readonly value: unknown
  readonly shown: unknown
}

function addedOrChanged(old: Part | undefined, now: Part): PlanChange[] {
  if (old === undefined) return [changeOf('add', now, summary(now))]
  if (canonicalJson(old.value) === canonicalJson(now.value)) return []
  const details = differences({ old: old.value, now: now.value, oldShown: old.shown, nowShown: now.shown })
  if (details.length === 0) return []
  const losses = details.some((detail) => isOfCacheServer(now.what, detail)) ? [CACHE_RESTART] : []
  return [changeOf('change', now, [...details, ...losses])]
}

const CACHE_RESTART = 'the cache server restarts and loses the values in its memory'

/** True if a setting belongs to the cache server that the supervisor runs. */
function isOfCacheServer(what: PlanPart, detail: string): boolean {
  return what === 'cache' && /^(serve|token)[.:]/.test(detail)
}

function changeOf(kind: PlanChange['kind'], { what, name }: Part, details: readonly string[]): PlanChange {
  return { kind, what, name, details }
}

function summary({ what, shown }: Part): string[] {
  if (what !== 'route') return []
  const { match, action } = shown as RoutePlan
  const methods = match.methods.length === 0 ? 'every method' : match.methods.join(', ')
  const hosts = match.hosts.length === 0 ? '' : ` on ${match.hosts.join(', ')}`
  const path = match.path.kind === 'any' ? 'every path' : match.path.text
  return [`${methods}${hosts}, ${path} -> ${action.kind === 'proxy' ? action.upstream : action.kind}`]
}

/** Returns a value that can be shown without masking. */
function same(value: unknown): Pick<Part, 'value' | 'shown'> {
  return { value, shown: value }
}

function partsOf(plan: Plan, catalog: Catalog): Map<string, Part> {
  const shown = displayPlan(plan, catalog)
  const parts = new Map<string, Part>()
  const add = (what: PlanPart, name: string, pair: Pick<Part, 'value' | 'shown'>) => {
    // Several listeners may have port 0.
    let key = `${what} ${name}`
    while (parts.has(key)) key += "'"
    parts.set(key, { what, name, ...pair })
  }
  for (const [i, value] of plan.listeners.entries())
    add('listener', value.address, { value, shown: shown.listeners[i] })
  for (const [i, value] of plan.upstreams.entries())
    add('upstream', value.name, { value, shown: shown.upstreams[i] })
  for (const [i, value] of plan.routes.entries()) add('route', value.id, { value, shown: shown.routes[i] })
  const { environment } = plan
  if (environment !== null) add('environment', '', same({ name: environment }))
  add('admin', '', { value: plan.admin, shown: shown.admin })
  add('workers', '', same({ count: plan.workers }))
  add('log', '', { value: plan.log, shown: shown.log })
  add('metrics', '', same(plan.metrics))
  if (plan.tracing !== undefined) add('tracing', '', same(plan.tracing))
  add('drain', '', same(plan.drain))
  add('overload', '', same(plan.overload))
  if (plan.state !== null) add('state', '', { value: plan.state, shown: shown.state })
  if (plan.cache !== null) add('cache', '', { value: plan.cache, shown: shown.cache })
  if (plan.kubernetes !== undefined) add('kubernetes', '', same(plan.kubernetes))
  if (plan.vault !== undefined) add('vault', '', { value: plan.vault, shown: shown.vault })
  if (plan.control !== undefined) add('control', '', { value: plan.control, shown: shown.control })
  for (const { name, version, digest } of plan.plugins) add('plugin', name, same({ version, digest }))
  return parts
}
