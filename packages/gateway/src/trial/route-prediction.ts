import type { Plan } from '@sluice/config'
import { type Catalog, Exchange } from '@sluice/core'
import { answersPreflights } from '../compile/chain-order.js'
import { applyRequest, type ExplainedRequest, listenerFor, targetOf } from '../explain/arrival.js'
import { conditionMatches } from '../explain/rejected-route.js'
import { compileRouter } from '../route/router.js'

/** Returns a function that finds the route of a request without sending it, or null. */
export function routePrediction(plan: Plan, catalog: Catalog): (request: ExplainedRequest) => string | null {
  const router = compileRouter(
    plan.routes.map((route) => {
      const { when } = route.match
      const predicate = when === null ? null : { test: (x: Exchange) => conditionMatches(when, x, catalog) }
      const isAnswering = route.policies.some((use) => answersPreflights(use, catalog))
      return { plan: route, value: route.id, when: predicate, answersPreflights: isAnswering }
    }),
  )
  return (request) => {
    const x = new Exchange()
    const target = targetOf(request.url)
    try {
      if (applyRequest(x, request, { target, listener: listenerFor(plan, target) }) !== null) return null
      x.body = request.body
      return router.match(x).value
    } catch {
      return null
    } finally {
      x.views?.close()
    }
  }
}
