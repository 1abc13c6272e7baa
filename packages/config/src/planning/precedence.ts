import type { RoutePlan } from '../plan/plan.js'
import { bestRank, compareRanks, routeRank } from '../plan/route-rank.js'

/** Sorts routes by precedence, the winner first. They must be given in document order. */
export function inPrecedence(routes: readonly RoutePlan[]): readonly RoutePlan[] {
  const ranked = withOrder(routes).map((route) => ({ route, rank: bestRank(route) }))
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ route }) => route)
}

/**
 * Numbers routes that differ only in their document order. Among routes with the same host pattern and rank,
 * each gets a higher number than the previous one. All others get 0, so that moving a route changes nothing
 * unless it matters.
 */
function withOrder(routes: readonly RoutePlan[]): RoutePlan[] {
  const next = new Map<string, number>()
  return routes.map((route) => {
    const keys = tieKeysOf(route)
    const order = Math.max(...keys.map((key) => next.get(key) ?? 0))
    for (const key of keys) next.set(key, order + 1)
    return route.order === order ? route : { ...route, order }
  })
}

const tieKeys = new WeakMap<RoutePlan, readonly string[]>()

/** Returns one key per host of a route. */
function tieKeysOf(route: RoutePlan): readonly string[] {
  const hosts = route.match.hosts.length === 0 ? [null] : route.match.hosts
  const known = tieKeys.get(route) ?? hosts.map((host) => tieKey(route, host))
  tieKeys.set(route, known)
  return known
}

/**
 * Returns the key of a route and host. Routes with different keys are never compared by document order: their
 * ranks differ, or their paths cannot match the same request.
 */
function tieKey(route: RoutePlan, host: string | null): string {
  if (route.match.path.kind === 'regex') return JSON.stringify([host, 'regex', route.priority])
  return JSON.stringify([host, pathKey(route), ...routeRank(route, host)])
}

/**
 * Returns the literals and parameter positions of a path. At equal rank, paths with different literals are
 * disjoint.
 */
function pathKey(route: RoutePlan): string {
  return route.match.path.segments
    .map((segment) => (segment.kind === 'param' ? '{}' : segment.text))
    .join('/')
}
