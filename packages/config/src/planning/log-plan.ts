import { parseDuration, parseSize } from '@sluice/core'
import type { LogElasticsearchPlan, LogFilePlan, LogPlan } from '../plan.js'
import type { Document } from '../schema/document.js'
import { capturePlan } from './capture-plan.js'
import { logPrivacyPlan } from './log-privacy-plan.js'
import { spoolPlan, targetPlans } from './log-target-plans.js'

type LogDocument = Document['log']
type ElasticsearchDocument = NonNullable<LogDocument['elasticsearch']>

const SEGMENT_BYTES = 64 * 1024 * 1024

/** The traffic log of a checked document. */
export function logPlan(document: LogDocument): LogPlan {
  const { sink, fields, file, elasticsearch, geo = null, privacy, unknownRoutes, capture } = document
  return {
    sink,
    fields,
    file: filePlan(file),
    elasticsearch: elasticsearch === undefined ? null : elasticsearchPlan(elasticsearch),
    ...targetPlans(document),
    geo,
    privacy: privacy === undefined ? null : logPrivacyPlan(privacy),
    unknownRoutes,
    capture: capturePlan(capture),
  }
}

function filePlan({ dir, maxBytes: written, segmentBytes }: LogDocument['file']): LogFilePlan {
  const maxBytes = parseSize(written)
  const half = Math.floor(maxBytes / 2)
  return {
    dir,
    maxBytes,
    segmentBytes: segmentBytes === undefined ? Math.min(SEGMENT_BYTES, half) : parseSize(segmentBytes),
  }
}

function elasticsearchPlan(document: ElasticsearchDocument): LogElasticsearchPlan {
  const { nodes, dataStream, tls, compress, retention, replicas, manage, spool } = document
  return {
    nodes,
    dataStream,
    auth: authPlan(document.auth),
    tls: { caFile: tls.caFile ?? null, insecure: tls.insecure },
    compress,
    retentionMs: retention === undefined ? null : parseDuration(retention),
    replicas,
    manage,
    spool: spoolPlan(spool),
  }
}

function authPlan(auth: ElasticsearchDocument['auth']): LogElasticsearchPlan['auth'] {
  if (auth === undefined) return null
  if (auth.apiKey !== undefined) return { apiKey: auth.apiKey }
  return { username: auth.username ?? '', password: auth.password ?? '' }
}
