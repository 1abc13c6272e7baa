import { type Consumer, EventStream, type Exchange, PHASE_NAMES, type WebSocketCounts } from '@sluice/core'
import { bodiesPart } from './bodies-part.js'
import { FRAGMENT, PHASES, RESULTS } from './fragments.js'
import { fieldsPart, receivedParts, urlRest, variablesPart } from './full-parts.js'
import { millisText } from './millis-text.js'
import type { RecordEnv } from './record-env.js'
import type { RecordWriter } from './record-writer.js'
import { type RouteParts, writePart } from './route-parts.js'
import { SentFields } from './sent-fields.js'
import { callsPart, tracePart, traceParts, triesPart } from './trace-parts.js'

// Reused, because records are written one at a time.
const sent = new SentFields()
const given = new SentFields()

/**
 * Writes the record of a finished exchange. Absent and empty values are omitted. Parts that most records do not have
 * are texts.
 * @param hasBodies False to omit captured bodies.
 */
export function writeRecord(x: Exchange, env: RecordEnv, w: RecordWriter, hasBodies = true): void {
  const totalMs = x.endedMono - x.startedMono
  const full = env.fields === 'full'
  w.fragment(FRAGMENT.start)
  w.time(x.startedAt)
  w.fragment(FRAGMENT.id)
  w.text(x.id)
  w.fragment(FRAGMENT.string)
  if (env.fields === 'minimal') writeMinimal(x, env, w, totalMs)
  else writeStandard(x, env, w, totalMs)
  if (full || x.record.capture !== null) w.json(fieldsPart(x, env))
  if (hasBodies && x.record.capture !== null) w.json(bodiesPart(x, env, totalMs))
  w.fragment(FRAGMENT.end)
}

function writeMinimal(x: Exchange, env: RecordEnv, w: RecordWriter, totalMs: number): void {
  writeRoute(x, env, w)
  w.fragment(FRAGMENT.onlyMethod)
  w.text(x.method)
  w.fragment(FRAGMENT.onlyPath)
  w.text(x.path === '' ? x.rawPath : x.path)
  w.count(FRAGMENT.onlyStatus, x.status)
  w.millis(FRAGMENT.total, totalMs)
  w.fragment(RESULTS[x.result])
  if (x.errorCode !== '') {
    w.fragment(FRAGMENT.error)
    w.name(x.errorCode)
    w.fragment(FRAGMENT.member)
  } else w.fragment(FRAGMENT.string)
}

function writeStandard(x: Exchange, env: RecordEnv, w: RecordWriter, totalMs: number): void {
  sent.read(x.headers)
  given.read(x.responseHeaders)
  const full = env.fields === 'full'
  if (sent.traceparent !== '') w.json(tracePart(sent.traceparent))
  if (x.consumer !== null) writeConsumer(x.consumer, w)
  writeRequest(x, env, w)
  if (full) w.json(receivedParts(x))
  writeResponse(x, env, w, totalMs)
  if (full) w.json(variablesPart(x, env.sensitive))
}

function writeRequest(x: Exchange, env: RecordEnv, w: RecordWriter): void {
  const { template } = writeRoute(x, env, w)
  env.http.write(w, x.method, x.httpVersion, x.host)
  w.text(x.path === '' ? x.rawPath : x.path)
  writePart(w, template)
  if (env.fields === 'full') w.json(urlRest(x, env.sensitive))
  w.count(FRAGMENT.requestHead, x.requestHeadBytes)
  w.count(FRAGMENT.bytesBody, x.requestBytes)
  env.request.write(w, sent.contentType, sent.contentEncoding, sent.userAgent)
}

function writeResponse(x: Exchange, env: RecordEnv, w: RecordWriter, totalMs: number): void {
  w.count(FRAGMENT.status, x.status)
  if (given.bytes > 0) w.count(FRAGMENT.bytesHead, given.bytes)
  w.count(FRAGMENT.bytesBody, x.responseBytes)
  env.response.write(w, given.contentType, x.attempts.upstream, x.attempts.target)
  if (x.attempts.upstream !== '') writeUpstream(x, env, w)
  w.millis(FRAGMENT.total, totalMs)
  writePhases(x.times.ms, w)
  w.fragment(RESULTS[x.result])
  if (x.errorCode === '') w.fragment(FRAGMENT.string)
  else writeError(x, w)
  writeNotes(x, env, w, totalMs)
}

/** Writes what only some policies and protocols note. */
function writeNotes(
  x: Exchange,
  { known, fields, slowMs }: RecordEnv,
  w: RecordWriter,
  totalMs: number,
): void {
  const { cacheResult, calls, limitName, stream, trace } = x.record
  if (limitName !== '') {
    w.fragment(FRAGMENT.limit)
    w.name(limitName)
    w.count(FRAGMENT.remaining, x.record.limitRemaining)
    w.fragment(FRAGMENT.end)
  }
  if (cacheResult !== '') {
    w.fragment(FRAGMENT.cache)
    w.name(cacheResult)
    w.count(FRAGMENT.age, x.record.cacheAge)
    w.fragment(FRAGMENT.end)
  }
  if (calls !== null) w.json(callsPart(calls, known))
  if (stream !== null)
    w.json(stream instanceof EventStream ? streamPart(x, stream) : webSocketPart(x, stream))
  if (trace === null) return
  w.json(traceParts(trace, known, fields === 'full' || x.result !== 'success' || totalMs > slowMs))
}

/** Writes up to the client's address. */
function writeRoute(x: Exchange, env: RecordEnv, w: RecordWriter): RouteParts {
  const route = env.routes.of(x.route)
  writePart(w, route.opening)
  w.text(x.clientIp)
  w.fragment(FRAGMENT.string)
  if (x.clientPort > 0) w.count(FRAGMENT.port, x.clientPort)
  return route
}

function writeConsumer(consumer: Consumer, w: RecordWriter): void {
  w.fragment(FRAGMENT.consumer)
  w.name(consumer.id)
  w.fragment(FRAGMENT.consumerName)
  w.name(consumer.name)
  w.fragment(FRAGMENT.auth)
  w.name(consumer.auth)
  if (consumer.credential !== null) {
    w.fragment(FRAGMENT.credential)
    w.name(consumer.credential)
  }
  w.fragment(FRAGMENT.member)
}

/** Continues the `up` object, which the total duration closes. */
function writeUpstream(x: Exchange, env: RecordEnv, w: RecordWriter): void {
  const { attempts } = x
  if (attempts.status > 0) w.count(FRAGMENT.upstreamStatus, attempts.status)
  w.count(FRAGMENT.attempts, attempts.count)
  if (attempts.retries > 0) w.count(FRAGMENT.retries, attempts.retries)
  if (attempts.failovers > 0) w.count(FRAGMENT.failovers, attempts.failovers)
  if (attempts.isReused) w.fragment(FRAGMENT.isReused)
  // Both transports use HTTP/1.1.
  if (env.fields === 'full') w.json(',"http":"1.1"')
  if (x.record.trace !== null) w.json(triesPart(x.record.trace, env.known))
}

/** Writes the phases that do not round to zero. With the time outside of any phase, they add up to the total. */
function writePhases(ms: readonly number[], w: RecordWriter): void {
  for (let i = 0; i < ms.length; i++) {
    if (ms[i]! >= 0.0005) w.millis(PHASES[i]!, ms[i]!)
  }
}

function writeError(x: Exchange, w: RecordWriter): void {
  w.fragment(FRAGMENT.error)
  w.name(x.errorCode)
  if (x.errorPolicy !== '') {
    w.fragment(FRAGMENT.errorPolicy)
    w.name(x.errorPolicy)
  }
  w.fragment(FRAGMENT.errorPhase)
  w.name(PHASE_NAMES[x.errorPhase]!)
  if (x.record.reason !== '') {
    w.fragment(FRAGMENT.errorReason)
    w.text(x.record.reason)
  }
  if (x.errorMessage !== '') {
    w.fragment(FRAGMENT.errorMessage)
    w.text(x.errorMessage)
  }
  w.fragment(FRAGMENT.member)
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
