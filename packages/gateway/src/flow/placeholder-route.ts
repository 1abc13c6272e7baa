import { NO_ROUTE } from '../telemetry/metrics.js'
import { EMPTY_CHAIN } from './chain.js'
import type { PipelineContext } from './context.js'
import { REFUSALS } from './refusals.js'
import type { Route, RouteLog } from './route.js'

/** Creates the placeholder route for requests that match no route. */
export function placeholderRoute(context: PipelineContext, log: RouteLog, configDigest: string): Route {
  return {
    id: NO_ROUTE,
    configDigest,
    api: null,
    template: '',
    log,
    chain: EMPTY_CHAIN,
    keepsEncodedSlashes: false,
    criticality: 1,
    cpuBudget: null,
    action: { kind: 'answer', reply: () => REFUSALS.notFound },
    metrics: context.metrics.route(NO_ROUTE),
    refreshes: null,
  }
}
