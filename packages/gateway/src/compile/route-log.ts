import type { LogPlan, RoutePlan } from '@sluice/config'
import type { LogRule, RouteLog } from '../pipeline/route.js'

/** Decides what the traffic log gets of a route, so that requests only look it up. */
export function compileRouteLog({ log: own }: RoutePlan, log: LogPlan): RouteLog {
  if (log.sink === 'none') return { rule: { isOff: false, capture: null }, byMethod: null }
  if (own === null) return { rule: { isOff: false, capture: log.capture }, byMethod: null }
  const methods = Object.entries(own.methods).map(([method, rule]) => [method, ruleOf(rule)] as const)
  return { rule: ruleOf(own), byMethod: methods.length === 0 ? null : new Map(methods) }
}

/** The same for requests that no route takes. */
export function compileUnknownLog(log: LogPlan): RouteLog {
  const capture = log.sink === 'none' ? null : log.capture
  return { rule: { isOff: !log.unknownRoutes, capture }, byMethod: null }
}

function ruleOf({ off, capture }: Pick<NonNullable<RoutePlan['log']>, 'off' | 'capture'>): LogRule {
  return { isOff: off, capture: off ? null : capture }
}
