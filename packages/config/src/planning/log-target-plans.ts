import { parseDuration, parseSize } from '@sluice/core'
import type { LogCustomPlan, LogPlan, LogSpoolPlan, LogSyslogPlan, LogWebhookPlan } from '../plan.js'
import type { Document } from '../schema/document.js'

type LogDocument = Document['log']
type SyslogDocument = NonNullable<LogDocument['syslog']>
type WebhookDocument = NonNullable<LogDocument['webhook']>
type CustomDocument = NonNullable<LogDocument['custom']>
type SpoolDocument = LogDocument['stdout']['spool']

/** The targets that a checked document has settings for; standard output needs none, so it counts when it is the sink. */
export function targetPlans(
  document: LogDocument,
): Pick<LogPlan, 'stdout' | 'syslog' | 'webhook' | 'custom'> {
  const { sink, stdout, syslog, webhook, custom } = document
  return {
    ...(sink === 'stdout' ? { stdout: { spool: spoolPlan(stdout.spool) } } : {}),
    ...(syslog === undefined ? {} : { syslog: syslogPlan(syslog) }),
    ...(webhook === undefined ? {} : { webhook: webhookPlan(webhook) }),
    ...(custom === undefined ? {} : { custom: customPlan(custom) }),
  }
}

/** The spool of a target. */
export function spoolPlan({ dir, maxBytes, keepFree, whenFull }: SpoolDocument): LogSpoolPlan {
  return { dir, maxBytes: parseSize(maxBytes), keepFreeBytes: parseSize(keepFree), whenFull }
}

function syslogPlan({ maxMessage, tls, spool, ...rest }: SyslogDocument): LogSyslogPlan {
  const { caFile = null, certFile = null, keyFile = null, insecure } = tls
  return {
    ...rest,
    maxMessageBytes: parseSize(maxMessage),
    tls: { caFile, certFile, keyFile, insecure },
    spool: spoolPlan(spool),
  }
}

function webhookPlan(document: WebhookDocument): LogWebhookPlan {
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
    spool: spoolPlan(spool),
  }
}

function webhookAuth(auth: WebhookDocument['auth']): LogWebhookPlan['auth'] {
  if (auth === undefined) return null
  if (auth.token !== undefined) return { token: auth.token }
  return { username: auth.username ?? '', password: auth.password ?? '' }
}

function customPlan({ module, options, spool }: CustomDocument): LogCustomPlan {
  return { module, options, spool: spoolPlan(spool) }
}
