import type { PathPlan, RoutePlan } from './plan.js'

const PATH_CLASS: Readonly<Record<PathPlan['kind'], number>> = {
  exact: 0,
  template: 1,
  prefix: 2,
  regex: 3,
  any: 4,
}

/**
 * Where a route stands among those that one host pattern can reach. Compare the numbers from the left; the smaller one
 * wins (see compareRanks):
 *
 *     [-priority, host class, -host labels, path class, path detail, path detail, -other predicates, order]
 *
 * @param host one of `route.match.hosts`, or null for a route that takes every host.
 */
export function routeRank(route: RoutePlan, host: string | null): readonly number[] {
  return [-route.priority, ...hostRank(host), ...pathRank(route.match.path), -predicateCount(route), route.order]
}

/** Negative when the route with rank `a` wins over the one with rank `b`, positive when it loses. */
export function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return 0
}

/** The rank of a route at the most specific of its hosts: its place in the plan. */
export function bestRank(route: RoutePlan): readonly number[] {
  const ranks = route.match.hosts.map((host) => routeRank(route, host))
  return ranks.sort(compareRanks)[0] ?? routeRank(route, null)
}

/** An exact host, then a wildcard with more labels, then none. */
function hostRank(host: string | null): readonly [number, number] {
  if (host === null) return [2, 0]
  return host.startsWith('*.') ? [1, -host.split('.').length] : [0, 0]
}

/** Templates: more literal segments first. Prefixes: longer first, then more literal segments. */
function pathRank(path: PathPlan): readonly [number, number, number] {
  const pathClass = PATH_CLASS[path.kind]
  const literals = path.segments.filter((segment) => segment.kind === 'literal').length
  if (path.kind === 'template') return [pathClass, -literals, 0]
  if (path.kind === 'prefix') return [pathClass, -path.segments.length, -literals]
  return [pathClass, 0, 0]
}

/** Predicates beside host and path. */
function predicateCount(route: RoutePlan): number {
  const { methods, headers, query, when } = route.match
  return (methods.length > 0 ? 1 : 0) + headers.length + query.length + (when === null ? 0 : 1)
}
