import type {
  LogElasticsearchPlan,
  LogKafkaPlan,
  LogOutletPlan,
  LogOutputPlan,
  LogPlan,
  LogSinkKind,
  LogSpoolPlan,
  LogSyslogPlan,
  LogWebhookPlan,
  Plan,
} from '@sluice/config'
import { compileCondition } from '@sluice/config/serving'
import type { LogSink } from '@sluice/core'
import {
  FanOutSink,
  isInSample,
  type LogOutputOptions,
  noneSink,
  type Outlet,
  openFileSink,
  openShippingSink,
  RecordEncoders,
  type SinkOptions,
} from '@sluice/logger'

/** Options common to all outputs of a log. */
type CommonOptions = Omit<SinkOptions, 'fields' | 'privacy'>

const DAY_MS = 86_400_000

/** Destination and spool of a sink. */
export interface Shipping {
  readonly spool: LogSpoolPlan
  readonly output: LogOutputOptions
}

/** Name of `log.sink` in the counts if there are other targets. */
const MAIN = 'main'

/**
 * Opens the sinks of a plan as one sink.
 * @throws Error if a directory is unusable; sinks opened before are closed again.
 */
export function openSink({ log }: Plan, common: CommonOptions): LogSink {
  const { geo, slowMs, sink } = log
  const options: CommonOptions = { ...common, geo, slowMs, encoders: new RecordEncoders() }
  const main = sink === 'none' ? null : openOutlet({ ...log, sink }, log, options)
  if (log.outputs.length === 0) return main ?? noneSink
  const outlets: Outlet[] = main === null ? [] : [{ id: MAIN, sink: main, wants: null }]
  try {
    for (const target of log.outputs)
      outlets.push({ id: target.id, sink: openTarget(target, log, options), wants: choiceOf(target) })
  } catch (error) {
    for (const { sink } of outlets) void sink.close(0)
    throw error
  }
  return new FanOutSink(outlets)
}

/** Opens a target. Its problems are reported with its name. */
function openTarget(target: LogOutputPlan, log: LogPlan, common: CommonOptions): Outlet['sink'] {
  const name = `target '${target.id}'`
  const onProblem = (message: string): void => common.onProblem?.(`${name}: ${message}`)
  try {
    return openOutlet(target, log, { ...common, capture: target.capture, onProblem })
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
  }
}

function openOutlet(outlet: LogOutletPlan, log: LogPlan, common: CommonOptions): Outlet['sink'] {
  const options = { ...common, fields: outlet.fields, privacy: outlet.privacy ?? log.privacy }
  if (outlet.sink === 'file') return openFileSink({ ...outlet.file, ...options })
  return openShippingSink({ ...options, ...SHIPPING[outlet.sink](outlet) })
}

/** Returns how an outlet's records are shipped. Null for files and `none`, which are not shipped. */
export function shippingOf(outlet: LogOutletPlan<LogPlan['sink']>): Shipping | null {
  const { sink } = outlet
  return sink === 'file' || sink === 'none' ? null : SHIPPING[sink]({ ...outlet, sink })
}

/** Returns the spool folders of a log. */
export function spoolDirs(log: LogPlan): readonly string[] {
  const outlets: readonly LogOutletPlan[] =
    log.sink === 'none' ? log.outputs : [{ ...log, sink: log.sink }, ...log.outputs]
  return outlets.flatMap((outlet) =>
    outlet.sink === 'file' ? [] : [SHIPPING[outlet.sink](outlet).spool.dir],
  )
}

/**
 * Returns a predicate for the requests that a target logs, or null for all. If the condition fails, the
 * request is logged, so that a mistake loses nothing.
 */
function choiceOf({ otlp, when, share }: LogOutputPlan): Outlet['wants'] {
  if (otlp?.signal === 'traces') return (x) => x.trace?.isKept === true
  const condition = when === null ? null : compileCondition(when, 'record')
  if (condition === null) return share === null ? null : (x) => isInSample(x.id, share)
  return (x) => {
    if (share !== null && !isInSample(x.id, share)) return false
    try {
      return condition.test(x)
    } catch {
      return true
    }
  }
}

/** Shipping options by sink. Validation ensures that the settings of a sink exist. */
const SHIPPING: Readonly<Record<Exclude<LogSinkKind, 'file'>, (outlet: LogOutletPlan) => Shipping>> = {
  elasticsearch: ({ elasticsearch }) => toElasticsearch(elasticsearch!),
  stdout: ({ stdout }) => ({ spool: stdout!.spool, output: { kind: 'stdout' } }),
  syslog: ({ syslog }) => toSyslog(syslog!),
  webhook: ({ webhook }) => toWebhook(webhook!),
  loki: ({ loki }) => {
    const { spool, ...settings } = loki!
    return { spool, output: { kind: 'loki', ...settings } }
  },
  kafka: ({ kafka }) => toKafka(kafka!),
  otlp: ({ otlp }) => {
    const { spool, ...settings } = otlp!
    return { spool, output: { kind: 'otlp', ...settings } }
  },
  custom: ({ custom }) => {
    const { spool, ...settings } = custom!
    return { spool, output: { kind: 'custom', ...settings } }
  },
}

function toElasticsearch({ tls, retentionMs, spool, ...settings }: LogElasticsearchPlan): Shipping {
  const retentionDays = retentionMs === null ? null : Math.ceil(retentionMs / DAY_MS)
  return { spool, output: { kind: 'elasticsearch', ...settings, ...tls, retentionDays } }
}

function toSyslog({ spool, ...settings }: LogSyslogPlan): Shipping {
  return { spool, output: { kind: 'syslog', ...settings } }
}

function toWebhook({ spool, ...settings }: LogWebhookPlan): Shipping {
  return { spool, output: { kind: 'webhook', ...settings } }
}

function toKafka({ spool, ...settings }: LogKafkaPlan): Shipping {
  return { spool, output: { kind: 'kafka', ...settings } }
}
