import type { RoutePlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'

/** A question about an exchange that has a yes or a no. */
export interface Predicate {
  /** It can only be answered once the request body is there. */
  readonly readsBody?: boolean
  test(x: Exchange): boolean
}

/** A route as the router takes it: what it matches, and what the gateway keeps for it. */
export interface Candidate<T> {
  readonly plan: RoutePlan
  /** The compiled `plan.match.when`; null when there is none. It throws only once the body is there. */
  readonly when: Predicate | null
  readonly value: T
  /** Its policies answer preflights. */
  readonly answersPreflights?: boolean
}
