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
import { compileAction, compileTarget } from './compile/action.js'
import { answersPreflights, inChainOrder } from './compile/chain-order.js'
import { receivedTarget } from './data-plane/pipeline/received-target.js'
import { REFUSALS } from './data-plane/pipeline/refusals.js'
import type { Candidate } from './data-plane/router/candidate.js'
import { compileRouter, type Match } from './data-plane/router/router.js'
import { Canary } from './data-plane/upstream/canary.js'
import { type ExplainedRequest, listenerFor, takeIn, targetOf } from './explain/arrival.js'
import { type PolicyRequirements, requirementsOf } from './explain/policy-requirements.js'
import {
  type ComparedRoute,
  isMet,
  type RejectedRoute,
  rejectedRouteOf,
  verdictOf,
} from './explain/rejected-route.js'

export type { ExplainedRequest } from './explain/arrival.js'
export type { RejectedRoute } from './explain/rejected-route.js'

/** Which route a request takes, why the others do not get it, and what happens to it there. */
export interface Explanation {
  readonly request: {
    readonly method: string
    readonly scheme: 'http' | 'https'
    readonly host: string
    /** Canonical; as received when it is refused. */
    readonly path: string
    readonly query: string
    /** After trusted proxies. */
    readonly clientIp: string
  }
  /** `health`: the listener answers by itself. */
  readonly outcome: 'routed' | 'refused' | 'health'
  readonly refusal: { readonly status: number; readonly code: string; readonly detail: string } | null
  readonly route: ExplainedRoute | null
  readonly losers: readonly RejectedRoute[]
}

/** The route that wins, as the request meets it. References stand as written, secrets are masked. */
export interface ExplainedRoute {
  readonly id: string
  /** What it is a part of. */
  readonly api: RoutePlan['api']
  /** The path pattern as written. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly policies: readonly ExplainedPolicy[]
  readonly action: ExplainedAction
  /** Null for routes without an upstream. */
  readonly timeouts: TimeoutsPlan | null
  /** Those of the listener; a policy of the chain may change the one of the body. */
  readonly limits: ListenerLimits
}

/** A policy of the chain. */
export interface ExplainedPolicy extends PolicyUse, PolicyRequirements {
  /** What the condition says of the request as it arrives; `unknown` when it asks for what is only known later. */
  readonly verdict: 'always' | 'true' | 'false' | 'fails' | 'unknown'
  /** What its configuration means, in sentences without a subject; empty for most policies. */
  readonly meaning: readonly string[]
}

/** Action of a route for the request. `path` and `location` are null when they depend on a reference or a secret. */
export type ExplainedAction =
  | { readonly kind: 'respond'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string | null }
  | {
      readonly kind: 'proxy'
      readonly upstream: string
      readonly balance: string
      readonly targets: readonly TargetPlan[]
      /** Whether it goes to the canary: it asks for it, its key is on that side, or neither; null: there is no canary. */
      readonly canary: 'match' | 'key' | 'none' | null
      /** The share of requests that are mirrored, 0 to 1. */
      readonly mirrored: number
      /** What the target gets, with the query. */
      readonly path: string | null
      /** The Host field; null: that of the target. */
      readonly host: string | null
    }

/**
 * Explains a request with the code that serves requests: the checks of the listener, the router, the conditions.
 * @throws RangeError when `url` is neither a path nor an absolute URL.
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
  const refused = takeIn(x, request, { target, listener })
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

/** A Reply for a body that is refused, whatever route it may be for. */
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
  const predicate = when === null ? null : { test: (x: Exchange) => isMet(when, x, catalog) }
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

/** What is known later than the consumer; a text that only looks like it is not known either. */
const LATER = /\b(?:jwt|vars|res|upstream)\b/

/** A condition that a route could have asks for nothing but the request, so it can be answered now; with a consumer, more can. */
function policyVerdict(when: string | null, x: Exchange, catalog: Catalog): ExplainedPolicy['verdict'] {
  if (when === null) return 'always'
  const { constant } = compileCondition(when, 'policy', { bodies: catalog.bodies })
  if (constant !== null) return constant ? 'true' : 'false'
  const isKnown = checkCondition(when, 'route').ok || (x.consumer !== null && !LATER.test(when))
  return isKnown ? verdictOf({ text: when, scope: 'policy' }, x, catalog) : 'unknown'
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

/** As if the canary did well; a key that only a policy finds is not known yet, so that the address counts. */
function canarySide(plan: CanaryPlan, x: Exchange): 'match' | 'key' | 'none' {
  const canary = new Canary(plan, { aborted: () => {}, singleKey: () => {} })
  if (canary.isAskedFor(x)) return 'match'
  return canary.takesKey(x) ? 'key' : 'none'
}

function hostFor(host: string, x: Exchange): string | null {
  if (host === 'upstream') return null
  return host === 'keep' ? x.authority : host
}

/** True if a part of the plan, as it is shown, has a reference or a masked secret. */
function hasHidden(part: object | null): boolean {
  const text = JSON.stringify(part)
  return text.includes('${') || text.includes(MASK)
}
