import { parseDuration, parseSize } from '@sluice/core'
import type {
  LogCustomPlan,
  LogHttpPlan,
  LogKafkaPlan,
  LogLokiPlan,
  LogOtlpPlan,
  LogPlan,
  LogSpoolPlan,
  LogSyslogPlan,
  LogWebhookPlan,
  OtlpPlan,
} from '../plan/plan.js'
import type { Document } from '../schema/document.js'
import { FOLDER } from '../template/folder.js'

type LogDocument = Document['log']
type SyslogDocument = NonNullable<LogDocument['syslog']>
type WebhookDocument = NonNullable<LogDocument['webhook']>
type LokiDocument = NonNullable<LogDocument['loki']>
type KafkaDocument = NonNullable<LogDocument['kafka']>
type OtlpDocument = Omit<NonNullable<LogDocument['otlp']>, 'spool'>
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
): Pick<LogPlan, 'stdout' | 'syslog' | 'webhook' | 'loki' | 'kafka' | 'otlp' | 'custom'> {
  const { stdout, syslog, webhook, loki, kafka, otlp, custom } = document
  return {
    ...(sink === 'stdout' ? { stdout: { spool: spoolPlan(stdout.spool, suffix) } } : {}),
    ...(syslog === undefined ? {} : { syslog: syslogPlan(syslog, suffix) }),
    ...(webhook === undefined ? {} : { webhook: webhookPlan(webhook, suffix) }),
    ...(loki === undefined ? {} : { loki: lokiPlan(loki, suffix) }),
    ...(kafka === undefined ? {} : { kafka: kafkaPlan(kafka, suffix) }),
    ...(otlp === undefined ? {} : { otlp: logOtlpPlan(otlp, 'logs', suffix) }),
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
  return {
    ...rest,
    maxMessageBytes: parseSize(maxMessageBytes),
    tls: clientTls(tls),
    spool: spoolPlan(spool, suffix),
  }
}

function clientTls(tls: SyslogDocument['tls']): LogSyslogPlan['tls'] {
  const { caFile = null, certFile = null, keyFile = null, insecure } = tls
  return { caFile, certFile, keyFile, insecure }
}

function webhookPlan(document: WebhookDocument, suffix: string): LogWebhookPlan {
  const { headers, format, signature = null } = document
  const { url, auth, compress, timeoutMs, tls, spool } = httpPlan(document, suffix)
  return { url, headers, auth, format, compress, timeoutMs, signature, tls, spool }
}

function lokiPlan(document: LokiDocument, suffix: string): LogLokiPlan {
  const { tenant = null, labels, recordLabels, structuredMetadata } = document
  return { ...httpPlan(document, suffix), tenant, labels, recordLabels, structuredMetadata }
}

function httpPlan(document: WebhookDocument | LokiDocument, suffix: string): LogHttpPlan {
  const { url, auth, compress, timeout, tls, spool } = document
  return {
    url,
    auth: httpAuth(auth),
    compress,
    timeoutMs: parseDuration(timeout),
    tls: { caFile: tls.caFile ?? null, insecure: tls.insecure },
    spool: spoolPlan(spool, suffix),
  }
}

function httpAuth(auth: WebhookDocument['auth']): LogHttpPlan['auth'] {
  if (auth === undefined) return null
  if (auth.token !== undefined) return { token: auth.token }
  return { username: auth.username ?? '', password: auth.password ?? '' }
}

function kafkaPlan(document: KafkaDocument, suffix: string): LogKafkaPlan {
  const { maxBatchBytes, connectTimeout, timeout, sasl = null, tls, spool, ...rest } = document
  return {
    ...rest,
    maxBatchBytes: parseSize(maxBatchBytes),
    connectTimeoutMs: parseDuration(connectTimeout),
    timeoutMs: parseDuration(timeout),
    sasl,
    tls: tls === undefined ? null : clientTls(tls),
    spool: spoolPlan(spool, suffix),
  }
}

/** Returns the plan of an export to an OpenTelemetry collector. */
export function otlpPlan({ endpoint, headers, compress, timeout, tls }: OtlpDocument): OtlpPlan {
  return {
    url: endpoint,
    headers,
    compress,
    timeoutMs: parseDuration(timeout),
    tls: { caFile: tls.caFile ?? null, insecure: tls.insecure },
  }
}

/** Returns the plan of a target that sends records to an OpenTelemetry collector, as logs or as spans. */
export function logOtlpPlan(
  document: OtlpDocument & { readonly spool: SpoolDocument },
  signal: LogOtlpPlan['signal'],
  suffix: string,
): LogOtlpPlan {
  return { signal, ...otlpPlan(document), spool: spoolPlan(document.spool, suffix) }
}

function customPlan({ module, options, spool }: CustomDocument, suffix: string): LogCustomPlan {
  return { module, from: FOLDER, options, spool: spoolPlan(spool, suffix) }
}
