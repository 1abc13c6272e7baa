import {
  type Condition,
  compileCondition,
  displayPlan,
  type FieldPredicate,
  type Load,
  type PathPlan,
  type Plan,
  type RoutePlan,
  resolvePlan,
  type TimeoutsPlan,
} from '@sluice/config'
import { type Catalog, canonicalPath, Exchange } from '@sluice/core'
import type { Candidate } from './router/candidate.js'
import { compileHeader, compileQuery, fieldValue } from './router/field-predicate.js'
import { hostMatches } from './router/host-table.js'
import { exactPath, regexSource } from './router/path-table.js'
import { compileRouter } from './router/router.js'

/** A request to be explained, which is not sent. */
export interface ExplainedRequest {
  readonly method: string
  /** A path, or an absolute URL. */
  readonly url: string
  /** Lower-case names. */
  readonly headers: readonly (readonly [string, string])[]
  readonly bodyBytes: number
  readonly clientIp: string
}

/** Which route a request takes, why the others lose, and what happens to it there. */
export interface Explanation {
  readonly request: { readonly method: string; readonly host: string; readonly path: string }
  /** `matched`, `404 no route`, `405 …` or `400 …`. */
  readonly outcome: string
  readonly route: ExplainedRoute | null
  readonly losers: readonly { readonly id: string; readonly reason: string }[]
}

export interface ExplainedRoute {
  readonly id: string
  /** The path pattern as written. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** Where the request goes, in words. */
  readonly target: string
  readonly policies: readonly ExplainedPolicy[]
  readonly timeouts: TimeoutsPlan | null
  /** Largest request body that the listener accepts. */
  readonly bodyBytes: number
}

export interface ExplainedPolicy {
  readonly id: string
  readonly use: string
  readonly when: string | null
  /** What the condition says of this request; `unknown` when it depends on what happens on the way. */
  readonly verdict: 'always' | 'true' | 'false' | 'unknown'
}

/** Explains a request against a load, with the router that workers use. */
export function explainRequest(load: Load, catalog: Catalog, request: ExplainedRequest): Explanation {
  const plan = resolvePlan(load)
  const x = exchangeOf(request, plan)
  const facts = { method: x.method, host: x.host, path: x.rawPath }
  const path = canonicalPath(x.rawPath)
  if (path === null) return { request: facts, outcome: '400 the path is malformed', route: null, losers: [] }
  x.path = path
  const candidates = plan.routes.map(candidateOf)
  const match = compileRouter(candidates).match(x)
  const winner = match.value
  const losers = candidates
    .filter(({ value }) => value !== winner)
    .map((candidate) => loserOf(candidate, x, winner))
  const shown =
    winner === null ? null : displayPlan(load.plan, catalog).routes.find(({ id }) => id === winner.id)
  const route = winner === null ? null : routeOf(shown ?? winner, x, plan)
  return { request: { ...facts, path }, outcome: outcomeOf(winner, match.allowed), route, losers }
}

function exchangeOf(request: ExplainedRequest, plan: Plan): Exchange {
  const base = `http://${plan.routes.find((route) => route.match.hosts[0] !== undefined)?.match.hosts[0]?.replace('*.', 'www.') ?? 'localhost'}`
  const url = request.url.startsWith('/') ? `${base}${request.url}` : request.url
  const [, scheme, authority, target] = /^(https?):\/\/([^/?]+)(.*)$/.exec(url) ?? [
    '',
    'http',
    'localhost',
    '/',
  ]
  const x = new Exchange()
  x.method = request.method
  x.scheme = scheme === 'https' ? 'https' : 'http'
  x.authority = request.headers.find(([name]) => name === 'host')?.[1] ?? authority!
  x.host = x.authority.replace(/:\d+$/, '').toLowerCase()
  const [path, ...query] = (target === '' || target!.startsWith('?') ? `/${target}` : target!).split('?')
  x.rawPath = path!
  x.query = query.join('?')
  x.headers = request.headers.filter(([name]) => name !== 'host').flat()
  x.contentLength = request.bodyBytes
  x.clientIp = request.clientIp
  x.peer = request.clientIp
  return x
}

function candidateOf(plan: RoutePlan): Candidate<RoutePlan> {
  return {
    plan,
    value: plan,
    when: plan.match.when === null ? null : tolerant(compileCondition(plan.match.when, 'route')),
  }
}

function tolerant(condition: Condition): { test(x: Exchange): boolean } {
  return { test: (x) => verdictOf(condition, x) === 'true' }
}

function verdictOf(condition: Condition, x: Exchange): 'true' | 'false' | 'unknown' {
  try {
    return condition.test(x) ? 'true' : 'false'
  } catch {
    return 'unknown'
  }
}

function outcomeOf(winner: RoutePlan | null, allowed: readonly string[] | null): string {
  if (winner !== null) return 'matched'
  return allowed === null ? '404 no route' : `405 the path accepts ${allowed.join(', ')}`
}

function loserOf(
  candidate: Candidate<RoutePlan>,
  x: Exchange,
  winner: RoutePlan | null,
): { id: string; reason: string } {
  const reason = firstFailure(candidate, x) ?? `matches too, but ${winner?.id ?? 'another route'} comes first`
  return { id: candidate.plan.id, reason }
}

/** The first predicate of a route that does not hold, in words; null when all do. */
function firstFailure({ plan, when }: Candidate<RoutePlan>, x: Exchange): string | null {
  const { hosts, path, methods, headers, query } = plan.match
  if (hosts.length > 0 && !hosts.some((host) => hostMatches(host, x.host))) {
    return `host ${x.host} is not ${hosts.join(' or ')}`
  }
  if (!pathMatches(path, x.path)) return `path ${x.path} does not match ${path.text}`
  if (
    methods.length > 0 &&
    !methods.includes(x.method) &&
    !(x.method === 'HEAD' && methods.includes('GET'))
  ) {
    return `method ${x.method} is not ${methods.join(' or ')}`
  }
  for (const predicate of headers) {
    if (!compileHeader(predicate).test(x))
      return `header ${fieldFailure(predicate, fieldValue(x, predicate.name))}`
  }
  for (const predicate of query) {
    if (!compileQuery(predicate).test(x)) return `query ${fieldFailure(predicate, null)}`
  }
  return when === null || when.test(x) ? null : `condition ${plan.match.when} is false`
}

function fieldFailure({ name, test, value }: FieldPredicate, actual: string | null): string {
  if (test === 'present') return `${name} is absent`
  if (test === 'absent') return `${name} is present`
  const wanted = test === 'exact' ? `'${value}'` : `${test} '${value}'`
  return actual === null ? `${name} is not ${wanted}` : `${name} is '${actual}', not ${wanted}`
}

function pathMatches(path: PathPlan, actual: string): boolean {
  if (path.kind === 'any') return true
  if (path.kind === 'regex') return new RegExp(regexSource(path)).test(actual)
  if (path.kind === 'exact') return exactPath(path) === actual
  const parts = actual.slice(1).split('/')
  const { segments, kind } = path
  const isBare = segments.length === 0 || (parts.length === segments.length && kind === 'prefix')
  if (kind === 'prefix' ? parts.length < segments.length && !isBare : parts.length !== segments.length)
    return false
  return segments.every((segment, i) =>
    segment.kind === 'param' ? (parts[i] ?? '') !== '' : parts[i] === segment.text,
  )
}

function routeOf(route: RoutePlan, x: Exchange, plan: Plan): ExplainedRoute {
  return {
    id: route.id,
    path: route.match.path.text || '*',
    params: Object.fromEntries(x.paramNames.map((name, i) => [name, x.params[i] ?? ''])),
    target: targetOf(route, plan),
    policies: route.policies.map((use) => ({
      id: use.id,
      use: use.use,
      when: use.when,
      verdict: verdict(use.when, x),
    })),
    timeouts: route.timeouts,
    bodyBytes: Math.max(...plan.listeners.map((listener) => listener.limits.bodyBytes)),
  }
}

function targetOf({ action }: RoutePlan, plan: Plan): string {
  if (action.kind === 'respond') return `a fixed response, status ${action.status}`
  if (action.kind === 'redirect') return `a redirect, status ${action.status}`
  const upstream = plan.upstreams.find(({ name }) => name === action.upstream)
  return `upstream ${action.upstream} (${upstream?.targets.map(({ url }) => new URL(url).origin).join(', ') ?? ''})`
}

/** Conditions on what policies set, or on the response, are not known before the request is really made. */
function verdict(when: string | null, x: Exchange): ExplainedPolicy['verdict'] {
  if (when === null) return 'always'
  const condition = compileCondition(when, 'policy')
  if (condition.needs.response || /\b(consumer|vars|upstream)\b/.test(when)) return 'unknown'
  return verdictOf(condition, x)
}
