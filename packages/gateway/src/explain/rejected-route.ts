import {
  compareRanks,
  compileCondition,
  type FieldPredicate,
  type MatchPlan,
  type RoutePlan,
  routeRank,
} from '@sluice/config'
import { type Catalog, type Exchange, headerValue, UnreadableBody } from '@sluice/core'
import { servedMethods } from '../data-plane/router/contender.js'
import { compileHeader, compileQuery } from '../data-plane/router/field-predicate.js'
import { hostMatches } from '../data-plane/router/host-table.js'
import { compileRouter } from '../data-plane/router/router.js'

/** A route twice: as it works, and as it may be shown. */
export interface ComparedRoute {
  readonly plan: RoutePlan
  readonly shown: RoutePlan
}

/** A route that does not get the request, and the first thing that speaks against it. */
export interface RejectedRoute {
  readonly id: string
  /** The path pattern as written. */
  readonly path: string
  /** `order`: every predicate holds, but another route comes first. */
  readonly failed: 'host' | 'path' | 'method' | 'header' | 'query' | 'when' | 'order'
  readonly reason: string
}

/** Says why a route does not get a request. Clears the exchange's path parameters. */
export function rejectedRouteOf(
  route: ComparedRoute,
  x: Exchange,
  { winner, catalog }: { readonly winner: ComparedRoute | null; readonly catalog: Catalog },
): RejectedRoute {
  const { id, match } = route.shown
  const [failed, reason] = firstFlaw(route, x, catalog) ?? ['order', behind(route, x, winner)]
  return { id, path: match.path.text || '/*', failed, reason }
}

/** What a condition says of an exchange; one that fails to evaluate counts as false everywhere. */
export function verdictOf(
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

/** True if the condition of a route holds. @throws UnreadableBody for a body that no route takes. */
export function isMet(text: string, x: Exchange, catalog: Catalog): boolean {
  try {
    return compileCondition(text, 'route', { bodies: catalog.bodies }).test(x)
  } catch (error) {
    if (error instanceof UnreadableBody && error.isAmbiguous) throw error
    return false
  }
}

type Flaw = readonly [failed: RejectedRoute['failed'], reason: string]

/** The first predicate of a route that does not hold; null when all do. */
function firstFlaw({ plan, shown }: ComparedRoute, x: Exchange, catalog: Catalog): Flaw | null {
  const { hosts, path, methods } = plan.match
  if (!holds(plan, { hosts }, x)) return ['host', `host ${x.host} is not ${orList(shown.match.hosts)}`]
  if (!holds(plan, { path }, x)) return ['path', `path ${x.path} does not match ${shown.match.path.text}`]
  if (servedMethods(methods)?.has(x.method) === false) {
    return ['method', `method ${x.method} is not ${orList(methods)}`]
  }
  return fieldFlaw({ plan, shown }, x) ?? conditionFlaw({ plan, shown }, x, catalog)
}

const NO_PREDICATES: MatchPlan = {
  hosts: [],
  path: { text: '', kind: 'any', segments: [] },
  methods: [],
  headers: [],
  query: [],
  when: null,
}

/** Asks the router itself, about a route that has nothing but these predicates. */
function holds(plan: RoutePlan, part: Partial<MatchPlan>, x: Exchange): boolean {
  const alone = { ...plan, match: { ...NO_PREDICATES, ...part } }
  const match = compileRouter([{ plan: alone, when: null, value: true }]).match(x)
  const isMatch = match.value !== null
  // Conditions of routes are asked before the parameters of a path are known.
  x.params = []
  x.paramNames = []
  return isMatch
}

function fieldFlaw({ plan, shown }: ComparedRoute, x: Exchange): Flaw | null {
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

function conditionFlaw({ plan, shown }: ComparedRoute, x: Exchange, catalog: Catalog): Flaw | null {
  const { when } = plan.match
  const verdict = when === null ? 'true' : verdictOf({ text: when, scope: 'route' }, x, catalog)
  if (verdict === 'true') return null
  return ['when', `condition ${shown.match.when} ${verdict === 'false' ? 'is false' : 'cannot be evaluated'}`]
}

function orList(texts: readonly string[]): string {
  return texts.join(' or ')
}

/** What each number of a route's rank stands for, as the one who is ahead in it would say (see routeRank). */
const ADVANTAGES = [
  'has a higher priority',
  ...Array<string>(2).fill('names the host more precisely'),
  ...Array<string>(4).fill('names the path more precisely'),
  'has more predicates',
  'stands further up in the document',
]
/** The number that holds the order of regular expressions. */
const REGEX_ORDER = 4

function behind({ plan }: ComparedRoute, x: Exchange, winner: ComparedRoute | null): string {
  if (winner === null) return 'matches'
  const [first, second] = [rankFor(winner.plan, x), rankFor(plan, x)]
  const at = first.findIndex((number, i) => number !== second[i])
  const isRegex = at === REGEX_ORDER && winner.plan.match.path.kind === 'regex'
  const advantage = isRegex ? ADVANTAGES.at(-1) : ADVANTAGES[at]
  // HEAD prefers routes that name it, which ranks do not show.
  const isAhead = compareRanks(first, second) < 0 && advantage !== undefined
  return `matches too, but ${winner.shown.id} ${isAhead ? advantage : 'comes first'}`
}

/** The route's rank at the best of its host patterns that take this host. */
function rankFor(plan: RoutePlan, x: Exchange): readonly number[] {
  const hosts = plan.match.hosts.filter((host) => hostMatches(host, x.host))
  const ranks = hosts.map((host) => routeRank(plan, host)).sort(compareRanks)
  return ranks[0] ?? routeRank(plan, null)
}
