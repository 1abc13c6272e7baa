import type { CompileEnv, Counter } from '@sluice/core'

const FAMILY = 'gw_limit_requests_total'
/** Maximum number of routes with their own counters. Further routes share one. */
const MAX_ROUTES = 20_000

/** Decision of a limit on a request. */
export type LimitResult = 'admitted' | 'limited' | 'shadow' | 'skipped' | 'refused' | 'unavailable'

/** Counts the decisions of a policy by route. Never by key, because clients choose keys. */
export class LimitCounts {
  readonly #env: CompileEnv
  readonly #policy: string
  readonly #byRoute = new Map<string, Map<LimitResult, Counter>>()

  constructor(env: CompileEnv, policy: string) {
    this.#env = env
    this.#policy = policy
  }

  count(id: string, result: LimitResult): void {
    const route = this.#byRoute.has(id) || this.#byRoute.size < MAX_ROUTES ? id : 'other'
    let counters = this.#byRoute.get(route)
    if (counters === undefined) {
      counters = new Map()
      this.#byRoute.set(route, counters)
    }
    let counter = counters.get(result)
    if (counter === undefined) {
      counter = this.#env.counter(FAMILY, { policy: this.#policy, route, result })
      counters.set(result, counter)
    }
    counter.value++
  }
}
