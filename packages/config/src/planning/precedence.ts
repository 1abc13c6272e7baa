import type { RoutePlan } from '../plan.js'
import { bestRank, compareRanks, routeRank } from '../route-rank.js'

/** Sorts the routes, given in document order, so that the one that wins stands before the one that loses. */
export function inPrecedence(routes: readonly RoutePlan[]): readonly RoutePlan[] {
  const ranked = withOrder(routes).map((route) => ({ route, rank: bestRank(route) }))
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ route }) => route)
}

/**
 * Numbers the routes that only their order in the document distinguishes: of those that one host pattern reaches with
 * the same rank, each has a higher number than the one before. All others are 0, so that moving a route in the
 * document changes nothing unless it matters.
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

/** A key for each host of a route that is not numbered yet. */
function tieKeysOf(route: RoutePlan): readonly string[] {
  const hosts = route.match.hosts.length === 0 ? [null] : route.match.hosts
  const known = tieKeys.get(route) ?? hosts.map((host) => tieKey(route, host))
  tieKeys.set(route, known)
  return known
}

/** Routes with different keys are never compared by order: another rank decides, or no path is common to both. */
function tieKey(route: RoutePlan, host: string | null): string {
  if (route.match.path.kind === 'regex') return JSON.stringify([host, 'regex', route.priority])
  return JSON.stringify([host, pathKey(route), ...routeRank(route, host)])
}

/** The literals and the positions of the parameters: of equal rank, other literals are other paths. */
function pathKey(route: RoutePlan): string {
  return route.match.path.segments
    .map((segment) => (segment.kind === 'param' ? '{}' : segment.text))
    .join('/')
}
