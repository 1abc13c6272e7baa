import type {
  LogElasticsearchPlan,
  LogOutletPlan,
  LogPlan,
  LogSinkKind,
  LogSpoolPlan,
  LogSyslogPlan,
  LogTargetPlan,
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
  type SinkOptions,
} from '@sluice/logger'

/** What does not differ between the places of a log. */
type CommonOptions = Omit<SinkOptions, 'fields' | 'privacy'>

const DAY_MS = 86_400_000

/** What a sink ships to, and where records wait for it. */
export interface Shipping {
  readonly spool: LogSpoolPlan
  readonly output: LogOutputOptions
}

/** The name of the counts of `log.sink` where there are others. */
const MAIN = 'main'

/**
 * Opens the sinks that a plan asks for, as one.
 * @throws Error when a directory cannot be used; what had been opened is closed again.
 */
export function openSink({ log }: Plan, common: CommonOptions): LogSink {
  const options: CommonOptions = { ...common, geo: log.geo, slowMs: log.slowMs }
  const main = log.sink === 'none' ? noneSink : openOutlet({ ...log, sink: log.sink }, log, options)
  if (log.targets.length === 0) return main
  const outlets: Outlet[] = log.sink === 'none' ? [] : [{ id: MAIN, sink: main, wants: null }]
  try {
    for (const target of log.targets) {
      outlets.push({ id: target.id, sink: openTarget(target, log, options), wants: choiceOf(target) })
    }
  } catch (error) {
    for (const { sink } of outlets) void sink.close(0)
    throw error
  }
  return new FanOutSink(outlets)
}

/** What goes wrong with it, at once or later, is reported with its name. */
function openTarget(target: LogTargetPlan, log: LogPlan, common: CommonOptions): LogSink {
  const name = `target '${target.id}'`
  const onProblem = (message: string): void => common.onProblem?.(`${name}: ${message}`)
  try {
    return openOutlet(target, log, { ...common, capture: target.capture, onProblem })
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
  }
}

function openOutlet(outlet: LogOutletPlan, log: LogPlan, common: CommonOptions): LogSink {
  const options = { ...common, fields: outlet.fields, privacy: outlet.privacy ?? log.privacy }
  if (outlet.sink === 'file') return openFileSink({ ...outlet.file, ...options })
  return openShippingSink({ ...options, ...SHIPPING[outlet.sink](outlet) })
}

/** How records of an outlet are shipped; null for files and for none, which are not shipped. */
export function shippingOf(outlet: LogOutletPlan<LogPlan['sink']>): Shipping | null {
  const { sink } = outlet
  return sink === 'file' || sink === 'none' ? null : SHIPPING[sink]({ ...outlet, sink })
}

/** Where records of a log wait for its targets. */
export function spoolDirs(log: LogPlan): readonly string[] {
  const outlets: readonly LogOutletPlan[] =
    log.sink === 'none' ? log.targets : [{ ...log, sink: log.sink }, ...log.targets]
  return outlets.flatMap((outlet) =>
    outlet.sink === 'file' ? [] : [SHIPPING[outlet.sink](outlet).spool.dir],
  )
}

/** Which calls a target gets. One whose condition fails on a call gets it: a mistake in it loses nothing. */
function choiceOf({ when, share }: LogTargetPlan): Outlet['wants'] {
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

/** By the name of the sink. Validation lets no document through whose sink has no settings. */
const SHIPPING: Readonly<Record<Exclude<LogSinkKind, 'file'>, (outlet: LogOutletPlan) => Shipping>> = {
  elasticsearch: ({ elasticsearch }) => toElasticsearch(elasticsearch!),
  stdout: ({ stdout }) => ({ spool: stdout!.spool, output: { kind: 'stdout' } }),
  syslog: ({ syslog }) => toSyslog(syslog!),
  webhook: ({ webhook }) => toWebhook(webhook!),
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
