import { parseDuration, parseSize } from '@sluice/core'
import type { LogCustomPlan, LogPlan, LogSpoolPlan, LogSyslogPlan, LogWebhookPlan } from '../plan/plan.js'
import type { Document } from '../schema/document.js'
import { FOLDER } from '../template/folder.js'

type LogDocument = Document['log']
type SyslogDocument = NonNullable<LogDocument['syslog']>
type WebhookDocument = NonNullable<LogDocument['webhook']>
type CustomDocument = NonNullable<LogDocument['custom']>
type SpoolDocument = LogDocument['stdout']['spool']

/**
 * Returns the settings of remote targets that the document contains. Standard output needs no
 * settings, so it is included if `sink` selects it.
 */
export function shippedPlans(
  document: LogDocument | LogDocument['outputs'][number],
  sink: LogPlan['sink'],
  suffix: string,
): Pick<LogPlan, 'stdout' | 'syslog' | 'webhook' | 'custom'> {
  const { stdout, syslog, webhook, custom } = document
  return {
    ...(sink === 'stdout' ? { stdout: { spool: spoolPlan(stdout.spool, suffix) } } : {}),
    ...(syslog === undefined ? {} : { syslog: syslogPlan(syslog, suffix) }),
    ...(webhook === undefined ? {} : { webhook: webhookPlan(webhook, suffix) }),
    ...(custom === undefined ? {} : { custom: customPlan(custom, suffix) }),
  }
}

/** Returns the spool folder of a target. */
export function spoolDir(dir: string | undefined, suffix: string): string {
  return dir ?? `./data/spool${suffix}`
}

/** Returns the plan of a spool. @param suffix distinguishes the default folder from those of other targets */
export function spoolPlan(
  { dir, maxBytes, minFreeBytes, whenFull }: SpoolDocument,
  suffix: string,
): LogSpoolPlan {
  return {
    dir: spoolDir(dir, suffix),
    maxBytes: parseSize(maxBytes),
    minFreeBytes: parseSize(minFreeBytes),
    whenFull,
  }
}

function syslogPlan({ maxMessageBytes, tls, spool, ...rest }: SyslogDocument, suffix: string): LogSyslogPlan {
  const { caFile = null, certFile = null, keyFile = null, insecure } = tls
  return {
    ...rest,
    maxMessageBytes: parseSize(maxMessageBytes),
    tls: { caFile, certFile, keyFile, insecure },
    spool: spoolPlan(spool, suffix),
  }
}

function webhookPlan(document: WebhookDocument, suffix: string): LogWebhookPlan {
  const { url, headers, format, compress, timeout, signature = null, tls, spool } = document
  return {
    url,
    headers,
    auth: webhookAuth(document.auth),
    format,
    compress,
    timeoutMs: parseDuration(timeout),
    signature,
    tls: { caFile: tls.caFile ?? null, insecure: tls.insecure },
    spool: spoolPlan(spool, suffix),
  }
}

function webhookAuth(auth: WebhookDocument['auth']): LogWebhookPlan['auth'] {
  if (auth === undefined) return null
  if (auth.token !== undefined) return { token: auth.token }
  return { username: auth.username ?? '', password: auth.password ?? '' }
}

function customPlan({ module, options, spool }: CustomDocument, suffix: string): LogCustomPlan {
  return { module, from: FOLDER, options, spool: spoolPlan(spool, suffix) }
}
