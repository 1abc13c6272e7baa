import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import type {
  CapturePlan,
  KeepBodyPlan,
  LogRulePlan,
  NarrowingPlan,
  RegionPlan,
  RouteLogPlan,
} from '../plan/plan.js'
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
  sha256: false,
  headersAllow: null,
  headersDeny: [],
  binary: 'omit',
  multipart: 'names',
  keepBodyOn: null,
}
const RECORDED: RegionPlan = { headers: true, body: true }
const EVERYTHING: CapturePlan = {
  ...NO_CAPTURE,
  requestIn: RECORDED,
  requestUp: RECORDED,
  responseUp: RECORDED,
  responseOut: RECORDED,
  maxBodyBytes: Number.MAX_SAFE_INTEGER,
  sha256: true,
  multipart: 'values',
}

/** Returns the default capture settings; null: nothing is captured. */
export function capturePlan(capture: CaptureDocument | undefined): CapturePlan | null {
  return orNull(merged(NO_CAPTURE, capture))
}

/** Returns the restriction of a target; null: no restriction. */
export function narrowingPlan(own: CaptureDocument | undefined): NarrowingPlan | null {
  if (own === undefined) return null
  const { binary, keepBodyOn, ...narrowed } = merged(EVERYTHING, own)
  return {
    ...narrowed,
    ...(own.binary === undefined ? {} : { binary }),
    ...(own.keepBodyOn === undefined ? {} : { keepBodyOn }),
  }
}

/**
 * Returns the traffic log settings of a route; null if neither the route nor its API has any.
 * @param levels settings from general to specific; each overrides the previous ones, including their methods
 */
export function routeLogPlan(
  levels: readonly (RouteLogDocument | undefined)[],
  common: CaptureDocument | undefined,
): RouteLogPlan | null {
  const own = levels.filter((level) => level !== undefined)
  if (own.length === 0) return null
  let base: Rule = { off: false, capture: merged(NO_CAPTURE, common) }
  const methods = new Map<string, Rule>()
  for (const level of own) {
    for (const [method, rule] of methods) methods.set(method, over(rule, level))
    base = over(base, level)
    for (const [written, rule] of Object.entries(level.methods)) {
      const method = written.toUpperCase()
      methods.set(method, over(methods.get(method) ?? base, rule))
    }
  }
  const plans = [...methods].map(([method, rule]) => [method, rulePlan(rule)] as const)
  return { ...rulePlan(base), methods: Object.fromEntries(plans) }
}

interface Rule {
  readonly off: boolean
  readonly capture: CapturePlan
}

function over(base: Rule, { off, capture }: RuleDocument): Rule {
  return { off: off ?? base.off, capture: merged(base.capture, capture) }
}

function rulePlan({ off, capture }: Rule): LogRulePlan {
  return { off, capture: orNull(capture) }
}

function merged(base: CapturePlan, own: CaptureDocument | undefined): CapturePlan {
  if (own === undefined) return base
  return {
    requestIn: { ...base.requestIn, ...own.requestIn },
    requestUp: { ...base.requestUp, ...own.requestUp },
    responseUp: { ...base.responseUp, ...own.responseUp },
    responseOut: { ...base.responseOut, ...own.responseOut },
    maxBodyBytes: own.maxBodyBytes === undefined ? base.maxBodyBytes : parseSize(own.maxBodyBytes),
    sha256: own.sha256 ?? base.sha256,
    headersAllow: own.headersAllow?.map(lowerCase) ?? base.headersAllow,
    headersDeny: own.headersDeny?.map(lowerCase) ?? base.headersDeny,
    binary: own.binary ?? base.binary,
    multipart: own.multipart ?? base.multipart,
    keepBodyOn: own.keepBodyOn === undefined ? base.keepBodyOn : keepBodyPlan(own.keepBodyOn),
  }
}

/**
 * Combines conditions. The lowest threshold applies because it is reached first, and the largest sample
 * because it includes the others.
 */
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

function lowerCase(text: string): string {
  return text.toLowerCase()
}

/**
 * Returns null if nothing is captured. Header filters count too, because full records contain some headers.
 */
function orNull(capture: CapturePlan): CapturePlan | null {
  const { requestIn, requestUp, responseUp, responseOut, headersAllow, headersDeny } = capture
  const regions = [requestIn, requestUp, responseUp, responseOut]
  const isChoosy = headersAllow !== null || headersDeny.length > 0
  return isChoosy || regions.some(({ headers, body }) => headers || body) ? capture : null
}
