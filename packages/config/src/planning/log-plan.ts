import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import type {
  LogElasticsearchPlan,
  LogFilePlan,
  LogOutletPlan,
  LogOutputPlan,
  LogPlan,
} from '../plan/plan.js'
import type { Document } from '../schema/document.js'
import type { LogSinkName } from '../schema/log.js'
import { capturePlan, narrowingPlan } from './capture-plan.js'
import { logPrivacyPlan } from './log-privacy-plan.js'
import { shippedPlans, spoolPlan } from './log-target-plans.js'

type LogDocument = Document['log']
type OutputDocument = LogDocument['outputs'][number]
type ElasticsearchDocument = NonNullable<LogDocument['elasticsearch']>

const SEGMENT_BYTES = 64 * 1024 * 1024

/** Returns the kind of the main target; `none` by default if there are other targets. */
export function sinkOf({ sink, outputs }: LogDocument): LogSinkName {
  return sink ?? (outputs.length === 0 ? 'file' : 'none')
}

/** Returns the plan of the traffic log of a checked document. */
export function logPlan(document: LogDocument): LogPlan {
  const { outputs, geo = null, slowAfter, unknownRoutes, capture } = document
  return {
    ...outletPlan(document, sinkOf(document), ''),
    outputs: outputs.map(outputPlan),
    geo,
    slowMs: parseDuration(slowAfter),
    unknownRoutes,
    capture: capturePlan(capture),
  }
}

function outputPlan(document: OutputDocument): LogOutputPlan {
  const { id, sink, when = null, sample, capture } = document
  return {
    id,
    ...outletPlan(document, sink, `-${id}`),
    when,
    share: sample === undefined ? null : parseRatio(sample),
    capture: narrowingPlan(capture),
  }
}

/** @param suffix distinguishes default folders from those of other targets */
function outletPlan<Sink extends LogPlan['sink']>(
  document: LogDocument | OutputDocument,
  sink: Sink,
  suffix: string,
): LogOutletPlan<Sink> {
  const { fields, file, elasticsearch, privacy } = document
  return {
    sink,
    fields,
    file: filePlan(file, suffix),
    elasticsearch: elasticsearch === undefined ? null : elasticsearchPlan(elasticsearch, suffix),
    ...shippedPlans(document, sink, suffix),
    privacy: privacy === undefined ? null : logPrivacyPlan(privacy),
  }
}

/** Returns the folder for log files. */
export function fileDir(dir: string | undefined, suffix: string): string {
  return dir ?? `./data/traffic${suffix}`
}

function filePlan(
  { dir, maxBytes: written, segmentBytes }: LogDocument['file'],
  suffix: string,
): LogFilePlan {
  const maxBytes = parseSize(written)
  const half = Math.floor(maxBytes / 2)
  return {
    dir: fileDir(dir, suffix),
    maxBytes,
    segmentBytes: segmentBytes === undefined ? Math.min(SEGMENT_BYTES, half) : parseSize(segmentBytes),
  }
}

function elasticsearchPlan(document: ElasticsearchDocument, suffix: string): LogElasticsearchPlan {
  const { nodes, dataStream, product, tls, compress, retention, replicas, manage, spool } = document
  return {
    nodes,
    dataStream,
    ...(product === 'opensearch' ? { product } : {}),
    auth: authPlan(document.auth),
    tls: { caFile: tls.caFile ?? null, insecure: tls.insecure },
    compress,
    retentionMs: retention === undefined ? null : parseDuration(retention),
    replicas,
    manage,
    spool: spoolPlan(spool, suffix),
  }
}

function authPlan(auth: ElasticsearchDocument['auth']): LogElasticsearchPlan['auth'] {
  if (auth === undefined) return null
  if (auth.apiKey !== undefined) return { apiKey: auth.apiKey }
  return { username: auth.username ?? '', password: auth.password ?? '' }
}
