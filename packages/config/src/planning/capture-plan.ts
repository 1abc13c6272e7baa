import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import type { CapturePlan, KeepBodyPlan, LogRulePlan, RegionPlan, RouteLogPlan } from '../plan.js'
import type { Document, RouteDocument } from '../schema/document.js'

type CaptureDocument = NonNullable<Document['log']['capture']>
type RouteLogDocument = NonNullable<RouteDocument['log']>
type RuleDocument = RouteLogDocument['methods'][string]

const SILENT: RegionPlan = { headers: false, body: false }
const NO_CAPTURE: CapturePlan = {
  requestIn: SILENT,
  requestUp: SILENT,
  responseUp: SILENT,
  responseOut: SILENT,
  maxBodyBytes: 4096,
  binary: 'omit',
  keepBodyOn: null,
}

/** What is captured everywhere; null: nothing. */
export function capturePlan(capture: CaptureDocument | undefined): CapturePlan | null {
  return orNull(merged(NO_CAPTURE, capture))
}

/** What the log gets of a route that has settings of its own; null for one that has none. */
export function routeLogPlan(
  own: RouteLogDocument | undefined,
  common: CaptureDocument | undefined,
): RouteLogPlan | null {
  if (own === undefined) return null
  const capture = merged(merged(NO_CAPTURE, common), own.capture)
  const base = { off: own.off ?? false, capture }
  const methods = Object.entries(own.methods).map(([method, rule]) => [
    method.toUpperCase(),
    rulePlan(base, rule),
  ])
  return { off: base.off, capture: orNull(capture), methods: Object.fromEntries(methods) }
}

function rulePlan(base: { off: boolean; capture: CapturePlan }, rule: RuleDocument): LogRulePlan {
  return { off: rule.off ?? base.off, capture: orNull(merged(base.capture, rule.capture)) }
}

function merged(base: CapturePlan, own: CaptureDocument | undefined): CapturePlan {
  if (own === undefined) return base
  return {
    requestIn: { ...base.requestIn, ...own.requestIn },
    requestUp: { ...base.requestUp, ...own.requestUp },
    responseUp: { ...base.responseUp, ...own.responseUp },
    responseOut: { ...base.responseOut, ...own.responseOut },
    maxBodyBytes: own.maxBody === undefined ? base.maxBodyBytes : parseSize(own.maxBody),
    binary: own.binary ?? base.binary,
    keepBodyOn: own.keepBodyOn === undefined ? base.keepBodyOn : keepBodyPlan(own.keepBodyOn),
  }
}

/** Of several thresholds the lowest counts, because it is reached first; of several samples the largest, which holds the others. */
function keepBodyPlan(ways: readonly string[]): KeepBodyPlan | null {
  if (ways.length === 0) return null
  const results = RESULTS.filter((result) => ways.includes(result))
  const slow = ways.filter((way) => way.startsWith('slow>')).map((way) => parseDuration(way.slice(5)))
  const status = ways.filter((way) => way.startsWith('status>=')).map((way) => Number(way.slice(8)))
  const shares = ways.filter((way) => way.startsWith('sample=')).map((way) => parseRatio(way.slice(7)))
  return {
    results,
    slowMs: lowest(slow),
    status: lowest(status),
    share: shares.length === 0 ? null : Math.max(...shares),
  }
}

const RESULTS = ['error', 'blocked', 'aborted', 'shed'] as const

function lowest(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values)
}

/** Without a region there is nothing to do while requests run. */
function orNull(capture: CapturePlan): CapturePlan | null {
  const { requestIn, requestUp, responseUp, responseOut } = capture
  const regions = [requestIn, requestUp, responseUp, responseOut]
  return regions.some(({ headers, body }) => headers || body) ? capture : null
}
