import type { LogPlan, RoutePlan } from '@sluice/config'
import type { LogRule, RouteLog } from '../pipeline/route.js'

/** Nobody reads what a request would tell, so that its times are not taken either. */
const OFF: RouteLog = { rule: { isOff: true, capture: null, isTraced: false }, byMethod: null }

/** Decides what the traffic log gets of a route, so that requests only look it up. */
export function compileRouteLog({ log: own }: RoutePlan, log: LogPlan): RouteLog {
  if (log.sink === 'none') return OFF
  if (own === null) return { rule: ruleOf({ off: false, capture: log.capture }, log), byMethod: null }
  const methods = Object.entries(own.methods).map(([method, rule]) => [method, ruleOf(rule, log)] as const)
  return { rule: ruleOf(own, log), byMethod: methods.length === 0 ? null : new Map(methods) }
}

/** The same for requests that no route takes. */
export function compileUnknownLog(log: LogPlan): RouteLog {
  if (log.sink === 'none') return OFF
  return { rule: ruleOf({ off: !log.unknownRoutes, capture: log.capture }, log), byMethod: null }
}

function ruleOf(
  { off, capture }: Pick<NonNullable<RoutePlan['log']>, 'off' | 'capture'>,
  { fields }: LogPlan,
): LogRule {
  return { isOff: off, capture: off ? null : capture, isTraced: !off && fields === 'full' }
}
