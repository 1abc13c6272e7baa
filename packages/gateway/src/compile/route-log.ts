import type { LogPlan, RoutePlan } from '@sluice/config'
import type { LogRule, RouteLog } from '../pipeline/route.js'

/** Nobody reads what a request would tell, so that its times are not taken either. */
const OFF: RouteLog = { rule: { isOff: true, capture: null }, byMethod: null }

/** Decides what the traffic log gets of a route, so that requests only look it up. */
export function compileRouteLog({ log: own }: RoutePlan, log: LogPlan): RouteLog {
  if (log.sink === 'none') return OFF
  if (own === null) return { rule: { isOff: false, capture: log.capture }, byMethod: null }
  const methods = Object.entries(own.methods).map(([method, rule]) => [method, ruleOf(rule)] as const)
  return { rule: ruleOf(own), byMethod: methods.length === 0 ? null : new Map(methods) }
}

/** The same for requests that no route takes. */
export function compileUnknownLog(log: LogPlan): RouteLog {
  if (log.sink === 'none') return OFF
  return { rule: { isOff: !log.unknownRoutes, capture: log.capture }, byMethod: null }
}

function ruleOf({ off, capture }: Pick<NonNullable<RoutePlan['log']>, 'off' | 'capture'>): LogRule {
  return { isOff: off, capture: off ? null : capture }
}
