import { parseDuration, parseRatio } from '@sluice/core'
import type { LogOutputPlan, LogPlan, NarrowingPlan, RoutePlan, TracingPlan } from '../plan/plan.js'
import type { Document } from '../schema/document.js'
import { TRACES } from '../schema/tracing.js'
import { fileDir } from './log-plan.js'
import { logOtlpPlan } from './log-target-plans.js'

type TracingDocument = NonNullable<Document['tracing']>

const SILENT = { headers: false, body: false }
/** Keeps captured headers and bodies out of the records for spans. */
const NO_CAPTURE: NarrowingPlan = {
  ...{ requestIn: SILENT, requestUp: SILENT, responseUp: SILENT, responseOut: SILENT },
  ...{ maxBodyBytes: 0, sha256: false, headersAllow: null, headersDeny: [], multipart: 'names' },
}

/** Returns the plan of tracing. */
export function tracingPlan({ propagation, sampling, keep }: TracingDocument): TracingPlan {
  const { errors, blocked, slowerThan } = keep
  const slowerThanMs = slowerThan === undefined ? null : parseDuration(slowerThan)
  return {
    propagation,
    ratio: parseRatio(sampling.ratio),
    parentBased: sampling.parentBased,
    keep: { errors, blocked, slowerThanMs },
  }
}

/** Adds the target that exports spans to a log, if tracing has one. */
export function withExporter(
  log: LogPlan,
  tracing: TracingDocument | undefined,
  routes: readonly RoutePlan[],
): LogPlan {
  const exporter = tracing?.exporter
  if (exporter === undefined) return log
  const output: LogOutputPlan = {
    id: TRACES,
    sink: 'otlp',
    fields: 'standard',
    file: { dir: fileDir(undefined, `-${TRACES}`), maxBytes: 0, segmentBytes: 0 },
    elasticsearch: null,
    otlp: logOtlpPlan(exporter, 'traces', `-${TRACES}`),
    privacy: null,
    when: null,
    share: null,
    // Targets with the same options share the work of writing a record.
    capture: captures(log, routes) ? NO_CAPTURE : null,
  }
  return { ...log, outputs: [...log.outputs, output] }
}

function captures({ capture }: LogPlan, routes: readonly RoutePlan[]): boolean {
  if (capture !== null) return true
  return routes.some(({ log }) => {
    return log !== null && [log, ...Object.values(log.methods)].some((rule) => rule.capture !== null)
  })
}
