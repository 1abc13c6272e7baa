import type {
  LogElasticsearchPlan,
  LogPlan,
  LogSpoolPlan,
  LogSyslogPlan,
  LogWebhookPlan,
  Plan,
} from '@sluice/config'
import type { LogSink } from '@sluice/core'
import {
  noneSink,
  openFileSink,
  openShippingSink,
  type SinkOptions,
  type TargetOptions,
} from '@sluice/logger'

const DAY_MS = 86_400_000

/** What a sink ships to, and where records wait for it. */
interface Shipping {
  readonly spool: LogSpoolPlan
  readonly target: TargetOptions
}

/** Opens the sink that a plan asks for. @throws Error when its directory cannot be used. */
export function openSink({ log }: Plan, common: SinkOptions): LogSink {
  const options: SinkOptions = { ...common, geo: log.geo, privacy: log.privacy }
  if (log.sink === 'none') return noneSink
  if (log.sink === 'file') return openFileSink({ ...log.file, ...options })
  return openShippingSink({ ...options, ...SHIPPING[log.sink](log) })
}

/** By the name of the sink. Validation lets no document through whose sink has no settings. */
const SHIPPING: Readonly<Record<Exclude<LogPlan['sink'], 'none' | 'file'>, (log: LogPlan) => Shipping>> = {
  elasticsearch: ({ elasticsearch }) => toElasticsearch(elasticsearch!),
  stdout: ({ stdout }) => ({ spool: stdout!.spool, target: { kind: 'stdout' } }),
  syslog: ({ syslog }) => toSyslog(syslog!),
  webhook: ({ webhook }) => toWebhook(webhook!),
  custom: ({ custom }) => {
    const { spool, ...settings } = custom!
    return { spool, target: { kind: 'custom', from: process.cwd(), ...settings } }
  },
}

function toElasticsearch({ tls, retentionMs, spool, ...settings }: LogElasticsearchPlan): Shipping {
  const retentionDays = retentionMs === null ? null : Math.ceil(retentionMs / DAY_MS)
  return { spool, target: { kind: 'elasticsearch', ...settings, ...tls, retentionDays } }
}

function toSyslog({ spool, ...settings }: LogSyslogPlan): Shipping {
  return { spool, target: { kind: 'syslog', ...settings } }
}

function toWebhook({ spool, ...settings }: LogWebhookPlan): Shipping {
  return { spool, target: { kind: 'webhook', ...settings } }
}
