import {
  type Consumer,
  EventStream,
  type Exchange,
  type Memo,
  PHASE_NAMES,
  type WebSocketCounts,
} from '@sluice/core'
import { bodiesPart } from './bodies-part.js'
import { fieldsPart, receivedParts, schemePart, urlRest, variablesPart } from './full-parts.js'
import { jsonText } from './json-text.js'
import { millisText } from './millis-text.js'
import type { RecordEnv } from './record-env.js'
import type { RecordWriter } from './record-writer.js'
import { SentFields } from './sent-fields.js'
import {
  callerSpanPart,
  callsPart,
  policySpansPart,
  tracePart,
  traceParts,
  triesPart,
} from './trace-parts.js'

// Reused, because records are written one at a time.
const sent = new SentFields()
const given = new SentFields()

/**
 * Writes the record of a finished exchange: the values of the templates in `record-templates.ts`, in their order. Parts
 * that most records do not have are texts.
 * @param hasBodies False to omit captured bodies.
 */
export function writeRecord(x: Exchange, env: RecordEnv, w: RecordWriter, hasBodies = true): void {
  const totalMs = x.endedMono - x.startedMono
  if (env.fields === 'minimal') writeMinimal(x, env, w, totalMs)
  else {
    sent.read(x.headers)
    given.read(x.responseHeaders)
    writeRequest(x, env, w)
    writeResponse(x, env, w, totalMs)
  }
  w.json(lastParts(x, env, totalMs, hasBodies))
}

function writeMinimal(x: Exchange, env: RecordEnv, w: RecordWriter, totalMs: number): void {
  env.templates.minimal(x.route).write(w, x.method, x.result, '')
  w.instant(x.startedAt)
  w.text(x.id)
  w.text(x.clientIp)
  w.count(x.clientPort)
  w.text(x.path === '' ? x.rawPath : x.path)
  w.count(x.status)
  w.millis(totalMs)
}

function writeRequest(x: Exchange, env: RecordEnv, w: RecordWriter): void {
  const { templates } = env
  templates.route(x.route).write(w, x.method, x.httpVersion, x.host)
  w.instant(x.startedAt)
  w.text(x.id)
  w.json(callerParts(x, env.known))
  w.text(x.clientIp)
  w.count(x.clientPort)
  w.text(x.path === '' ? x.rawPath : x.path)
  w.json(env.fields === 'full' ? urlRest(x, env.sensitive) : x.trace === null ? '' : schemePart(x))
  w.count(x.requestHeadBytes)
  w.count(x.requestBytes)
  templates.request.write(w, sent.contentType, sent.contentEncoding, sent.userAgent)
  w.json(env.fields === 'full' ? receivedParts(x) : '')
}

function writeResponse(x: Exchange, env: RecordEnv, w: RecordWriter, totalMs: number): void {
  const { attempts } = x
  w.count(x.status)
  w.count(given.bytes)
  w.count(x.responseBytes)
  env.templates.response.write(w, given.contentType, attempts.upstream, attempts.target)
  if (attempts.upstream !== '') {
    w.count(attempts.status)
    w.count(attempts.count)
    w.count(attempts.retries)
    w.count(attempts.failovers)
    w.count(attempts.isReused ? 1 : 0)
    w.json(upstreamRest(x, env))
  }
  w.millis(totalMs)
  writePhases(x.times.ms, w)
  w.json(x.result)
}

/** Writes the phases that do not round to zero. They add up to the total. */
function writePhases(ms: readonly number[], w: RecordWriter): void {
  let mask = 0
  for (let i = 0; i < ms.length; i++) if (ms[i]! >= 0.0005) mask |= 1 << i
  w.count(mask)
  for (let i = 0; i < ms.length; i++) if (ms[i]! >= 0.0005) w.millis(ms[i]!)
}

/** Returns `,"trace":…,"span":…,"consumer":…`. Without tracing, the span is that of the caller. */
function callerParts({ consumer, trace }: Exchange, known: Memo<string>): string {
  const ids = trace === null ? callerSpanPart(sent.traceparent) : tracePart(trace)
  return consumer === null ? ids : ids + consumerPart(consumer, known)
}

function consumerPart(consumer: Consumer, known: Memo<string>): string {
  return (
    ',"consumer":{"id":"' +
    known.get(consumer.id) +
    '","name":"' +
    known.get(consumer.name) +
    '","auth":"' +
    known.get(consumer.auth) +
    (consumer.credential === null ? '"}' : '","credential":"' + known.get(consumer.credential) + '"}')
  )
}

/** Returns `,"http":…,"at":…,"ms":…,"path":…,"tries":…` of the upstream. Both transports use HTTP/1.1. */
function upstreamRest(x: Exchange, { fields, known }: RecordEnv): string {
  const { trace } = x.record
  const http = fields === 'full' ? ',"http":"1.1"' : ''
  const rest = x.trace?.isKept === true ? http + lastAttemptPart(x) : http
  return trace === null ? rest : rest + triesPart(trace, known)
}

/** Returns start, duration and path of the last attempt, for its span. */
function lastAttemptPart({ attempts, startedMono }: Exchange): string {
  const { sinceMono, endedMono, sentPath } = attempts
  return (
    ',"at":' +
    millisText(sinceMono - startedMono) +
    (endedMono === 0 ? '' : ',"ms":' + millisText(endedMono - sinceMono)) +
    (sentPath === '' ? '' : ',"path":"' + jsonText(sentPath) + '"')
  )
}

/** Returns what follows the result. */
function lastParts(x: Exchange, env: RecordEnv, totalMs: number, hasBodies: boolean): string {
  const { fields, known, sensitive } = env
  const hasFields = fields === 'full' || x.record.capture !== null
  const error = x.errorCode === '' ? '' : fields === 'minimal' ? codePart(x) : errorPart(x, known)
  const notes = fields === 'minimal' ? '' : notedParts(x, env, totalMs)
  if (!hasFields) return error === '' ? notes : error + notes
  return (
    error +
    notes +
    (fields === 'full' ? variablesPart(x, sensitive) : '') +
    fieldsPart(x, env) +
    (hasBodies && x.record.capture !== null ? bodiesPart(x, env, totalMs) : '')
  )
}

function codePart({ errorCode }: Exchange): string {
  return ',"error":{"code":"' + errorCode + '"}'
}

function errorPart(x: Exchange, known: Memo<string>): string {
  return (
    ',"error":{"code":"' +
    x.errorCode +
    (x.errorPolicy === '' ? '' : '","policy":"' + known.get(x.errorPolicy)) +
    '","phase":"' +
    PHASE_NAMES[x.errorPhase]! +
    (x.record.reason === '' ? '' : '","reason":"' + jsonText(x.record.reason)) +
    (x.errorMessage === '' ? '"}' : '","msg":"' + jsonText(x.errorMessage) + '"}')
  )
}

/** Returns what only some policies and protocols note. */
function notedParts(x: Exchange, { known, fields, slowMs }: RecordEnv, totalMs: number): string {
  const { cacheResult, calls, limitName, stream, trace } = x.record
  let parts = ''
  if (limitName !== '') parts += limitPart(x, known)
  if (cacheResult !== '')
    parts += ',"cache":{"status":"' + cacheResult + '","age":' + count(x.record.cacheAge) + '}'
  if (calls !== null) parts += callsPart(calls, known)
  if (stream !== null)
    parts += stream instanceof EventStream ? streamPart(x, stream) : webSocketPart(x, stream)
  const spans = x.trace?.isKept === true ? (x.record.policyTrace?.spans ?? null) : null
  if (spans !== null) parts += policySpansPart(spans, x.startedMono, known)
  if (trace === null) return parts
  return parts + traceParts(trace, known, fields === 'full' || x.result !== 'success' || totalMs > slowMs)
}

function limitPart(x: Exchange, known: Memo<string>): string {
  const { limitName, limitRemaining } = x.record
  return ',"limit":{"name":"' + known.get(limitName) + '","remaining":' + count(limitRemaining) + '}'
}

function streamPart(x: Exchange, { events, isReadable, sinceMono }: EventStream): string {
  return (
    ',"stream":{' +
    (isReadable ? '"events":' + events + ',' : '') +
    '"bytes":' +
    count(x.responseBytes) +
    ',"ms":' +
    millisText(x.endedMono - sinceMono) +
    ',"closed_by":"' +
    closerOf(x) +
    '"}'
  )
}

function webSocketPart(x: Exchange, counts: WebSocketCounts): string {
  return (
    ',"websocket":{"messages_in":' +
    count(counts.messagesIn) +
    ',"messages_out":' +
    count(counts.messagesOut) +
    ',"bytes_in":' +
    count(counts.bytesIn) +
    ',"bytes_out":' +
    count(counts.bytesOut) +
    ',"ms":' +
    millisText(x.endedMono - counts.sinceMono) +
    ',"close":' +
    count(counts.closeCode) +
    ',"closed_by":"' +
    counts.closedBy +
    '"}'
  )
}

function closerOf({ result, errorCode }: Exchange): 'upstream' | 'client' | 'gateway' {
  if (result === 'aborted') return 'client'
  const isUpstream =
    errorCode === '' || errorCode === 'GW_UPSTREAM_RESET' || errorCode === 'GW_UPSTREAM_INVALID'
  return isUpstream ? 'upstream' : 'gateway'
}

/** Returns 0 for a value that would make the JSON invalid, such as NaN. */
function count(value: number): number {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0
}
