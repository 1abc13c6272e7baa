import type { LogPlan, RoutePlan } from '@sluice/config'
import type { LogRule, RouteLog } from '../flow/route.js'

/** Used if nothing reads the log, so that request times are not measured either. */
const OFF: RouteLog = {
  rule: { isOff: true, capture: null, isTraced: false },
  byMethod: null,
  slowMs: Number.POSITIVE_INFINITY,
  isTimed: false,
}

/** Precomputes the logging rules of a route, so that requests only look them up. */
export function compileRouteLog({ log: own, policies }: RoutePlan, log: LogPlan): RouteLog {
  if (goesNowhere(log)) return OFF
  const isTraced = policies.length > 0 && tellsPolicies(log)
  const { slowMs } = log
  const isTimed = hasRecords(log)
  if (own === null)
    return { rule: ruleOf({ off: false, capture: log.capture }, isTraced), byMethod: null, slowMs, isTimed }
  const methods = Object.entries(own.methods).map(
    ([method, rule]) => [method, ruleOf(rule, isTraced)] as const,
  )
  return {
    rule: ruleOf(own, isTraced),
    byMethod: methods.length === 0 ? null : new Map(methods),
    slowMs,
    isTimed,
  }
}

/** Precomputes the logging rules for requests without a route. */
export function compileUnknownLog(log: LogPlan): RouteLog {
  if (goesNowhere(log)) return OFF
  const rule = ruleOf({ off: !log.unknownRoutes, capture: log.capture }, false)
  return { rule, byMethod: null, slowMs: log.slowMs, isTimed: hasRecords(log) }
}

function goesNowhere({ sink, outputs }: LogPlan): boolean {
  return sink === 'none' && outputs.length === 0
}

/** Returns true if there are records, and not only spans. */
function hasRecords({ sink, outputs }: LogPlan): boolean {
  return sink !== 'none' || outputs.some((output) => output.otlp?.signal !== 'traces')
}

/**
 * Returns true if records include policy runs. Minimal records do not; others include those that failed or
 * were slow, or all.
 */
function tellsPolicies({ sink, fields, outputs }: LogPlan): boolean {
  return (
    (sink !== 'none' && fields !== 'minimal') ||
    outputs.some((output) => output.otlp?.signal !== 'traces' && output.fields !== 'minimal')
  )
}

function ruleOf(
  { off, capture }: Pick<NonNullable<RoutePlan['log']>, 'off' | 'capture'>,
  isTraced: boolean,
): LogRule {
  return { isOff: off, capture: off ? null : capture, isTraced: !off && isTraced }
}
