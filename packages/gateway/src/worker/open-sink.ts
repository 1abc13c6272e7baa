import type { LogElasticsearchPlan, Plan } from '@sluice/config'
import type { LogSink } from '@sluice/core'
import {
  noneSink,
  openFileSink,
  openShippingSink,
  type SinkOptions,
  type TargetOptions,
} from '@sluice/logger'

const DAY_MS = 86_400_000

/** Opens the sink that a plan asks for. @throws Error when its directory cannot be used. */
export function openSink({ log }: Plan, common: SinkOptions): LogSink {
  const options: SinkOptions = { ...common, privacy: log.privacy }
  if (log.sink === 'none') return noneSink
  if (log.sink === 'file') return openFileSink({ ...log.file, ...options })
  // Validation lets no document through whose sink has no settings.
  const settings = log.elasticsearch!
  return openShippingSink({ ...options, spool: settings.spool, target: targetOf(settings) })
}

function targetOf({ tls, retentionMs, spool: _, ...settings }: LogElasticsearchPlan): TargetOptions {
  const retentionDays = retentionMs === null ? null : Math.ceil(retentionMs / DAY_MS)
  return { kind: 'elasticsearch', ...settings, ...tls, retentionDays }
}
