import type { RoutePlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'

/** A condition on an exchange. */
export interface Predicate {
  /** True if it can be tested only once the request body has been received. */
  readonly readsBody?: boolean
  test(x: Exchange): boolean
}

/** A route in the router: its match conditions and the gateway's value for it. */
export interface Candidate<T> {
  readonly plan: RoutePlan
  /** Compiled `plan.match.when`, or null. It throws only once the body has been received. */
  readonly when: Predicate | null
  readonly value: T
  /** True if the route's policies answer CORS preflights. */
  readonly answersPreflights?: boolean
}
