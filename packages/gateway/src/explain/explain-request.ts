import {
  type CanaryPlan,
  type ConfigBundle,
  checkCondition,
  compileCondition,
  displayPlan,
  type ListenerLimits,
  loadBodyLanguages,
  type Plan,
  type PolicyUse,
  type RoutePlan,
  resolvePlan,
  type TargetPlan,
  type TimeoutsPlan,
} from '@sluice/config'
import { type Catalog, Exchange, MASK, type Reply, refusal, UnreadableBody } from '@sluice/core'
import { compileAction, compileTarget } from '../compile/action.js'
import { answersPreflights, inChainOrder } from '../compile/chain-order.js'
import { receivedTarget } from '../flow/received-target.js'
import { REFUSALS } from '../flow/refusals.js'
import type { Candidate } from '../route/candidate.js'
import { compileRouter, type Match } from '../route/router.js'
import { Canary } from '../upstream/canary.js'
import { applyRequest, type ExplainedRequest, listenerFor, targetOf } from './arrival.js'
import { type PolicyRequirements, requirementsOf } from './policy-requirements.js'
import {
  type ComparedRoute,
  conditionMatches,
  evaluateCondition,
  type RejectedRoute,
  rejectedRouteOf,
} from './rejected-route.js'

export type { ExplainedRequest } from './arrival.js'
export type { RejectedRoute } from './rejected-route.js'

/**
 * Explanation of a request: the selected route, why others were not selected, and what happens to the
 * request.
 */
export interface Explanation {
  readonly request: {
    readonly method: string
    readonly scheme: 'http' | 'https'
    readonly host: string
    /** Canonical path; as received if the request is refused. */
    readonly path: string
    readonly query: string
    /** Client address after evaluating trusted proxies. */
    readonly clientIp: string
  }
  /** `health`: the listener answers by itself. */
  readonly outcome: 'routed' | 'refused' | 'health'
  readonly refusal: { readonly status: number; readonly code: string; readonly detail: string } | null
  readonly route: ExplainedRoute | null
  readonly losers: readonly RejectedRoute[]
}

/** The selected route. References are shown as written and secrets are masked. */
export interface ExplainedRoute {
  readonly id: string
  readonly api: RoutePlan['api']
  /** Path pattern as written. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly policies: readonly ExplainedPolicy[]
  readonly action: ExplainedAction
  /** Timeouts, or null for routes without an upstream. */
  readonly timeouts: TimeoutsPlan | null
  /** Limits of the listener. A policy of the chain may change the body limit. */
  readonly limits: ListenerLimits
}

/** A policy of the chain. */
export interface ExplainedPolicy extends PolicyUse, PolicyRequirements {
  /** Result of the condition for the request as it arrives; `unknown` if it depends on later values. */
  readonly verdict: 'always' | 'true' | 'false' | 'fails' | 'unknown'
  /** Meaning of its configuration in short phrases; empty for most policies. */
  readonly meaning: readonly string[]
}

/**
 * Action of a route for the request. `path` and `location` are null if they depend on a reference or a
 * secret.
 */
export type ExplainedAction =
  | { readonly kind: 'respond'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string | null }
  | {
      readonly kind: 'proxy'
      readonly upstream: string
      readonly balance: string
      readonly targets: readonly TargetPlan[]
      /** Canary decision: requested explicitly, selected by key, or neither. Null without a canary. */
      readonly canary: 'match' | 'key' | 'none' | null
      /** Share of mirrored requests, from 0 to 1. */
      readonly mirrored: number
      /** Path and query sent to the target. */
      readonly path: string | null
      /** Host header sent upstream, or null for the target's own. */
      readonly host: string | null
    }

/**
 * Explains a request using the code that serves requests: the listener's checks, the router and the
 * conditions.
 * @throws RangeError if `url` is neither a path nor an absolute URL.
 */
export async function explainRequest(
  bundle: ConfigBundle,
  catalog: Catalog,
  request: ExplainedRequest,
): Promise<Explanation> {
  const plan = resolvePlan(bundle)
  const shown = displayPlan(bundle.plan, catalog)
  const target = targetOf(request.url)
  const listener = listenerFor(plan, target)
  const x = new Exchange()
  const refused = applyRequest(x, request, { target, listener })
  const nothing = { request: factsOf(x), refusal: null, route: null, losers: [] }
  if (refused !== null) return { ...nothing, outcome: 'refused', refusal: refusalOf(refused) }
  if (listener.health && x.path.startsWith('/-/')) return { ...nothing, outcome: 'health' }

  x.body = request.body
  x.consumer = request.consumer ?? null
  await loadBodyLanguages(JSON.stringify(plan.routes), catalog)
  const candidates = plan.routes.map((route, i) => candidateOf(route, shown.routes[i]!, catalog))
  const match = matchOf(candidates, x)
  if ('problem' in match) return { ...nothing, outcome: 'refused', refusal: refusalOf(match) }
  const { value: winner, allowed } = match
  if (winner !== null && x.hasEncodedSlash && winner.plan.encodedSlashes === 'refuse')
    return { ...nothing, outcome: 'refused', refusal: refusalOf(REFUSALS.encodedSlash) }
  const route = winner === null ? null : await routeOf(winner, x, { shown, catalog, limits: listener.limits })
  const others = candidates.filter(({ value }) => value !== winner)
  const losers = others.map(({ value }) => rejectedRouteOf(value, x, { winner, catalog }))
  x.views?.close()
  if (route !== null) return { ...nothing, outcome: 'routed', route, losers }
  return { ...nothing, outcome: 'refused', refusal: refusalOf(missReply(allowed)), losers }
}

/** Matches the request. Returns a Reply if its body is refused whatever the route. */
function matchOf(candidates: readonly Candidate<ComparedRoute>[], x: Exchange): Match<ComparedRoute> | Reply {
  try {
    return compileRouter(candidates).match(x)
  } catch (error) {
    if (error instanceof UnreadableBody) return refusal(error.code, error.message)
    throw error
  }
}

function factsOf(x: Exchange): Explanation['request'] {
  const { method, scheme, host, query, clientIp } = x
  return { method, scheme, host, path: x.path || x.rawPath, query, clientIp }
}

function refusalOf({ status, problem }: Reply): Explanation['refusal'] {
  return { status, code: problem?.code ?? '', detail: problem?.detail ?? '' }
}

function missReply(allowed: readonly string[] | null): Reply {
  if (allowed === null) return REFUSALS.notFound
  return refusal('GW_METHOD_NOT_ALLOWED', `this path accepts ${allowed.join(', ')}`)
}

function candidateOf(plan: RoutePlan, shown: RoutePlan, catalog: Catalog): Candidate<ComparedRoute> {
  const { when } = plan.match
  const predicate = when === null ? null : { test: (x: Exchange) => conditionMatches(when, x, catalog) }
  const answers = plan.policies.some((use) => answersPreflights(use, catalog))
  return { plan, value: { plan, shown }, when: predicate, answersPreflights: answers }
}

async function routeOf(
  { plan, shown }: ComparedRoute,
  x: Exchange,
  context: { readonly shown: Plan; readonly catalog: Catalog; readonly limits: ListenerLimits },
): Promise<ExplainedRoute> {
  const policies = inChainOrder(plan.policies, context.catalog)
  const verdicts = policies.map(({ when }) => policyVerdict(when, x, context.catalog))
  const requirements = await requirementsOf(policies, { plan: context.shown, catalog: context.catalog, x })
  const shownPolicies = inChainOrder(shown.policies, context.catalog)
  return {
    id: shown.id,
    api: shown.api,
    path: shown.match.path.text || '/*',
    params: Object.fromEntries(x.paramNames.map((name, i) => [name, x.params[i] ?? ''])),
    policies: shownPolicies.map((use, i) => ({
      ...use,
      verdict: verdicts[i]!,
      meaning: context.catalog.meanings?.get(use.use)?.(use.with as never) ?? [],
      ...requirements[i]!,
    })),
    action: actionOf({ plan, shown }, x, context.shown),
    timeouts: shown.timeouts,
    limits: context.limits,
  }
}

/**
 * Matches names whose values are known only after the consumer. Text that merely looks like one also counts.
 */
const LATER = /\b(?:jwt|vars|res|upstream)\b/

/**
 * Evaluates a policy's condition if possible. Conditions that a route could have depend only on the request.
 * With a consumer, more can be evaluated.
 */
function policyVerdict(when: string | null, x: Exchange, catalog: Catalog): ExplainedPolicy['verdict'] {
  if (when === null) return 'always'
  const { constant } = compileCondition(when, 'policy', { bodies: catalog.bodies })
  if (constant !== null) return constant ? 'true' : 'false'
  const isKnown = checkCondition(when, 'route').ok || (x.consumer !== null && !LATER.test(when))
  return isKnown ? evaluateCondition({ text: when, scope: 'policy' }, x, catalog) : 'unknown'
}

function actionOf({ plan, shown: route }: ComparedRoute, x: Exchange, shown: Plan): ExplainedAction {
  const { action } = route
  if (action.kind === 'respond') return { kind: 'respond', status: action.status }
  const isOpen = hasHidden(action) || hasHidden(route.rewrite)
  if (action.kind === 'redirect') {
    const compiled = compileAction(plan, new Map())
    const location = compiled.kind === 'answer' ? compiled.reply(x).headers[1] : null
    return { kind: 'redirect', status: action.status, location: isOpen ? null : (location ?? null) }
  }
  const upstream = shown.upstreams.find(({ name }) => name === action.upstream)
  const path = compileTarget(plan)?.(x)
  return {
    kind: 'proxy',
    upstream: action.upstream,
    balance: upstream?.balance ?? '',
    targets: upstream?.targets ?? [],
    canary: upstream?.canary ? canarySide(upstream.canary, x) : null,
    mirrored: upstream?.mirror?.percent ?? 0,
    path: isOpen ? null : (path ?? receivedTarget(x)),
    host: hostFor(route.rewrite?.host ?? 'keep', x),
  }
}

/**
 * Returns the canary decision, assuming a healthy canary. A key that only a policy determines is unknown, so
 * the client address is used.
 */
function canarySide(plan: CanaryPlan, x: Exchange): 'match' | 'key' | 'none' {
  const canary = new Canary(plan, { aborted: () => {}, singleKey: () => {} })
  if (canary.isAskedFor(x)) return 'match'
  return canary.takesKey(x) ? 'key' : 'none'
}

function hostFor(host: string, x: Exchange): string | null {
  if (host === 'upstream') return null
  return host === 'keep' ? x.authority : host
}

/** Returns true if the displayed part of the plan has a reference or a masked secret. */
function hasHidden(part: object | null): boolean {
  const text = JSON.stringify(part)
  return text.includes('${') || text.includes(MASK)
}
