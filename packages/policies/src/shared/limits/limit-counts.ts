import type { CompileEnv, Counter } from '@sluice/core'

const FAMILY = 'gw_limit_requests_total'
/** Maximum number of routes with their own counters. Further routes share one. */
const MAX_ROUTES = 20_000

/** Decision of a limit on a request. */
export type LimitResult = 'admitted' | 'limited' | 'shadow' | 'skipped' | 'refused' | 'unavailable'

/** Returns a function that counts the decisions of a policy by route. Never by key, because clients choose keys. */
export function limitCounts(env: CompileEnv, policy: string): (id: string, result: LimitResult) => void {
  const byRoute = new Map<string, Map<LimitResult, Counter>>()
  return (id, result) => {
    const route = byRoute.has(id) || byRoute.size < MAX_ROUTES ? id : 'other'
    let counters = byRoute.get(route)
    if (counters === undefined) {
      counters = new Map()
      byRoute.set(route, counters)
    }
    let counter = counters.get(result)
    if (counter === undefined) {
      counter = env.counter(FAMILY, { policy, route, result })
      counters.set(result, counter)
    }
    counter.value++
  }
}
