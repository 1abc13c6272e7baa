import type { PathSegment, RoutePlan } from './plan.js'

const PATH_CLASS = { exact: 0, template: 1, prefix: 2, regex: 3, any: 4 } as const

/**
 * Returns the rank of a route among those that match one host pattern. Numbers are compared from the left,
 * and the smaller one wins (see compareRanks):
 *
 *     [-priority, host class, -host labels, path class, three of the path, -other predicates, order]
 *
 * @param host one of `route.match.hosts`, or null for a route that matches any host
 */
export function routeRank(route: RoutePlan, host: string | null): readonly number[] {
  const [hostClass, labels] = hostRank(host)
  const [pathClass, first, second, third] = pathRank(route)
  const predicates = predicateCount(route)
  // Spread syntax would allocate four times as much memory. A router with many routes keeps all ranks while it is built.
  return [-route.priority, hostClass, labels, pathClass, first, second, third, -predicates, route.order]
}

/** Compares two ranks. Negative if `a` takes precedence over `b`, positive if `b` does. */
export function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return 0
}

/** Returns the rank of a route for its most specific host, which defines its position in the plan. */
export function bestRank(route: RoutePlan): readonly number[] {
  const ranks = route.match.hosts.map((host) => routeRank(route, host))
  return ranks.sort(compareRanks)[0] ?? routeRank(route, null)
}

/** Ranks hosts: exact ones, then wildcards with more labels first, then none. */
function hostRank(host: string | null): readonly [number, number] {
  if (host === null) return [2, 0]
  return host.startsWith('*.') ? [1, -host.split('.').length] : [0, 0]
}

/**
 * Ranks paths. Templates: more literal segments first. Prefixes: longer first, then more literal segments.
 * Then literals further left. Regular expressions: document order, independent of other predicates.
 */
function pathRank({ match, order }: RoutePlan): readonly [number, number, number, number] {
  const { kind, segments } = match.path
  const literals = segments.filter((segment) => segment.kind === 'literal').length
  if (kind === 'template') return [PATH_CLASS.template, -literals, 0, paramWeight(segments)]
  if (kind === 'prefix') return [PATH_CLASS.prefix, -segments.length, -literals, paramWeight(segments)]
  return [PATH_CLASS[kind], kind === 'regex' ? order : 0, 0, 0]
}

/**
 * Returns a weight that is smaller the further right the parameters are: a binary fraction with one digit per
 * segment.
 */
function paramWeight(segments: readonly PathSegment[]): number {
  return segments.reduce((sum, segment, i) => (segment.kind === 'param' ? sum + 2 ** -(i + 1) : sum), 0)
}

/** Counts the predicates other than host and path. */
function predicateCount(route: RoutePlan): number {
  const { methods, headers, query, when } = route.match
  return (methods.length > 0 ? 1 : 0) + headers.length + query.length + (when === null ? 0 : 1)
}
