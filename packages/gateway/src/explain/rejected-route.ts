import {
  compareRanks,
  compileCondition,
  type FieldPredicate,
  type MatchPlan,
  type RoutePlan,
  routeRank,
} from '@sluice/config'
import { type Catalog, type Exchange, headerValue, type RoutedExchange, UnreadableBody } from '@sluice/core'
import { servedMethods } from '../route/contender.js'
import { compileHeader, compileQuery } from '../route/field-predicate.js'
import { hostMatches } from '../route/host-table.js'
import { compileRouter } from '../route/router.js'

/** A route as configured, and with secrets masked for display. */
export interface ComparedRoute {
  readonly plan: RoutePlan
  readonly shown: RoutePlan
}

/** A route that was not selected, with the first reason against it. */
export interface RejectedRoute {
  readonly id: string
  /** Path pattern as written. */
  readonly path: string
  /** Failed predicate; `order` if all match, but another route takes precedence. */
  readonly failed: 'host' | 'path' | 'method' | 'header' | 'query' | 'when' | 'order'
  readonly reason: string
}

/** Explains why a route was not selected. Clears the exchange's path parameters. */
export function rejectedRouteOf(
  route: ComparedRoute,
  x: Exchange,
  { winner, catalog }: { readonly winner: ComparedRoute | null; readonly catalog: Catalog },
): RejectedRoute {
  const { id, match } = route.shown
  const [failed, reason] = firstMismatch(route, x, catalog) ?? ['order', behind(route, x, winner)]
  return { id, path: match.path.text || '/*', failed, reason }
}

/** Evaluates a condition. One that fails to evaluate counts as false everywhere. */
export function evaluateCondition(
  { text, scope }: { readonly text: string; readonly scope: 'route' | 'policy' },
  x: Exchange,
  catalog: Catalog,
): 'true' | 'false' | 'fails' {
  try {
    return compileCondition(text, scope, { bodies: catalog.bodies }).test(x) ? 'true' : 'false'
  } catch {
    return 'fails'
  }
}

/**
 * Returns true if a route's condition matches.
 * @throws UnreadableBody for a body that every route refuses.
 */
export function conditionMatches(text: string, x: Exchange, catalog: Catalog): boolean {
  try {
    return compileCondition(text, 'route', { bodies: catalog.bodies }).test(x)
  } catch (error) {
    if (error instanceof UnreadableBody && error.isAmbiguous) throw error
    return false
  }
}

type Mismatch = readonly [failed: RejectedRoute['failed'], reason: string]

/** Returns the first predicate of a route that does not match, or null if all do. */
function firstMismatch({ plan, shown }: ComparedRoute, x: Exchange, catalog: Catalog): Mismatch | null {
  const { hosts, path, methods } = plan.match
  if (!holds(plan, { hosts }, x)) return ['host', `host ${x.host} is not ${orList(shown.match.hosts)}`]
  if (!holds(plan, { path }, x)) return ['path', `path ${x.path} does not match ${shown.match.path.text}`]
  if (servedMethods(methods)?.has(x.method) === false)
    return ['method', `method ${x.method} is not ${orList(methods)}`]
  return fieldMismatch({ plan, shown }, x) ?? conditionMismatch({ plan, shown }, x, catalog)
}

const NO_PREDICATES: MatchPlan = {
  hosts: [],
  path: { text: '', kind: 'any', segments: [] },
  methods: [],
  headers: [],
  query: [],
  when: null,
}

/** Tests a route with only these predicates, using the router itself. */
function holds(plan: RoutePlan, part: Partial<MatchPlan>, x: RoutedExchange): boolean {
  const alone = { ...plan, match: { ...NO_PREDICATES, ...part } }
  const match = compileRouter([{ plan: alone, when: null, value: true }]).match(x)
  const isMatch = match.value !== null
  // Clear the path parameters: route conditions are evaluated before they are known.
  x.params = []
  x.paramNames = []
  return isMatch
}

function fieldMismatch({ plan, shown }: ComparedRoute, x: Exchange): Mismatch | null {
  const { headers, query } = plan.match
  const header = headers.findIndex((predicate) => !compileHeader(predicate).test(x))
  if (header >= 0) {
    const predicate = shown.match.headers[header]!
    return ['header', `header ${fieldText(predicate, headerValue(x.headers, predicate.name))}`]
  }
  const parameter = query.findIndex((predicate) => !compileQuery(predicate).test(x))
  return parameter < 0 ? null : ['query', `query parameter ${fieldText(shown.match.query[parameter]!, null)}`]
}

function fieldText({ name, test, value }: FieldPredicate, actual: string | null): string {
  if (test === 'present') return `${name} is absent`
  if (test === 'absent') return `${name} is present`
  const wanted = test === 'exact' ? `'${value}'` : `${test} '${value}'`
  return actual === null ? `${name} is not ${wanted}` : `${name} is '${actual}', not ${wanted}`
}

function conditionMismatch({ plan, shown }: ComparedRoute, x: Exchange, catalog: Catalog): Mismatch | null {
  const { when } = plan.match
  const verdict = when === null ? 'true' : evaluateCondition({ text: when, scope: 'route' }, x, catalog)
  if (verdict === 'true') return null
  return ['when', `condition ${shown.match.when} ${verdict === 'false' ? 'is false' : 'cannot be evaluated'}`]
}

function orList(texts: readonly string[]): string {
  return texts.join(' or ')
}

/** The winner's advantage for each number of a route's rank (see routeRank). */
const ADVANTAGES = [
  'has a higher priority',
  ...Array<string>(2).fill('has a more specific host'),
  ...Array<string>(4).fill('has a more specific path'),
  'has more predicates',
  'comes earlier in the document',
]
/** Index of the rank number for the order of regular expressions. */
const REGEX_ORDER = 4

function behind({ plan }: ComparedRoute, x: Exchange, winner: ComparedRoute | null): string {
  if (winner === null) return 'matches'
  const [first, second] = [rankFor(winner.plan, x), rankFor(plan, x)]
  const at = first.findIndex((number, i) => number !== second[i])
  const isRegex = at === REGEX_ORDER && winner.plan.match.path.kind === 'regex'
  const advantage = isRegex ? ADVANTAGES.at(-1) : ADVANTAGES[at]
  // HEAD prefers routes that list it, which ranks do not show.
  const isAhead = compareRanks(first, second) < 0 && advantage !== undefined
  return `matches too, but ${winner.shown.id} ${isAhead ? advantage : 'comes first'}`
}

/** Returns the route's best rank among its host patterns that match the host. */
function rankFor(plan: RoutePlan, x: Exchange): readonly number[] {
  const hosts = plan.match.hosts.filter((host) => hostMatches(host, x.host))
  const ranks = hosts.map((host) => routeRank(plan, host)).sort(compareRanks)
  return ranks[0] ?? routeRank(plan, null)
}
