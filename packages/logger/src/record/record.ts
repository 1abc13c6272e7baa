import {
  type Consumer,
  EventStream,
  type Exchange,
  type Memo,
  PHASE_NAMES,
  type RouteApi,
  type WebSocketCounts,
} from '@sluice/core'
import { bodiesPart } from './bodies-part.js'
import { fieldsPart, receivedParts, urlRest, variablesPart } from './full-parts.js'
import { millisText } from './iso-clock.js'
import { jsonText } from './json-text.js'
import type { RecordEnv } from './record-env.js'
import { SentFields } from './sent-fields.js'
import { timingsPart } from './timings-part.js'
import { callsPart, tracePart, traceParts, triesPart } from './trace-parts.js'

// Reused, because records are encoded one at a time.
const sent = new SentFields()
const given = new SentFields()

/**
 * Encodes a finished exchange as one line of JSON in printable ASCII, without the newline. Absent and empty
 * values are omitted. Written by hand because it runs on the request path for every request.
 * @param hasBodies False to omit captured bodies.
 */
export function encodeRecord(x: Exchange, env: RecordEnv, hasBodies = true): string {
  const totalMs = x.endedMono - x.startedMono
  const head = '{"@timestamp":"' + env.clock.text(x.startedAt) + '","id":"' + jsonText(x.id) + '"'
  const full = env.fields === 'full'
  const parts =
    env.fields === 'minimal' ? minimalParts(x, env.known, totalMs) : standardParts(x, env, full, totalMs)
  if (x.record.capture === null) return head + parts + (full ? fieldsPart(x, env) : '') + '}'
  return head + parts + fieldsPart(x, env) + (hasBodies ? bodiesPart(x, env, totalMs) : '') + '}'
}

function minimalParts(x: Exchange, known: Memo<string>, totalMs: number): string {
  return (
    routePart(x, known) +
    '"},"url":{"path":"' +
    jsonText(x.path === '' ? x.rawPath : x.path) +
    '"},"res":{"status":' +
    count(x.status) +
    '},"t":{"total":' +
    millisText(totalMs) +
    '},"result":"' +
    x.result +
    (x.errorCode === '' ? '"' : '","error":{"code":"' + x.errorCode + '"}')
  )
}

function standardParts(x: Exchange, env: RecordEnv, full: boolean, totalMs: number): string {
  sent.read(x.headers)
  given.read(x.responseHeaders)
  return (
    tracePart(sent.traceparent) +
    env.gateway.text(x.route.configDigest) +
    requestParts(x, env.known, full ? urlRest(x, env.sensitive) : '') +
    (full ? receivedParts(x) : '') +
    responseParts(x, env, full, totalMs) +
    (full ? variablesPart(x, env.sensitive) : '')
  )
}

function requestParts(x: Exchange, known: Memo<string>, urlRest: string): string {
  return (
    (x.consumer === null ? '' : consumerPart(x.consumer, known)) +
    routePart(x, known) +
    '","version":"' +
    x.httpVersion +
    '"},"url":{"host":"' +
    jsonText(x.host) +
    '","path":"' +
    jsonText(x.path === '' ? x.rawPath : x.path) +
    (x.route.template === '' ? '"' : '","template":"' + known.get(x.route.template) + '"') +
    urlRest +
    '},"req":{"bytes_h":' +
    count(x.requestHeadBytes) +
    ',"bytes_b":' +
    count(x.requestBytes) +
    textPart(',"ct":"', sent.contentType) +
    textPart(',"encoding":"', sent.contentEncoding) +
    '}' +
    textPart(',"ua":"', sent.userAgent)
  )
}

function responseParts(x: Exchange, env: RecordEnv, full: boolean, totalMs: number): string {
  const { known } = env
  const { cacheResult, calls, limitName, stream, trace } = x.record
  return (
    ',"res":{"status":' +
    count(x.status) +
    (given.bytes === 0 ? '' : ',"bytes_h":' + given.bytes) +
    ',"bytes_b":' +
    count(x.responseBytes) +
    textPart(',"ct":"', given.contentType) +
    (x.attempts.upstream === '' ? '}' : upstreamPart(x, known, full)) +
    timingsPart(x, totalMs) +
    ',"result":"' +
    x.result +
    (x.errorCode === '' ? '"' : errorPart(x, known)) +
    (limitName === '' ? '' : limitPart(x, known)) +
    (cacheResult === ''
      ? ''
      : ',"cache":{"status":"' + cacheResult + '","age":' + count(x.record.cacheAge) + '}') +
    (calls === null ? '' : callsPart(calls, known)) +
    (stream === null
      ? ''
      : stream instanceof EventStream
        ? streamPart(x, stream)
        : webSocketPart(x, stream)) +
    (trace === null ? '' : traceParts(trace, known, full || x.result !== 'success' || totalMs > env.slowMs))
  )
}

/** Ends inside the `http` object, because the callers add different members. */
function routePart(x: Exchange, known: Memo<string>): string {
  return (
    ',"route":"' +
    known.get(x.routeId) +
    (x.api === null ? '' : apiPart(x.api, known)) +
    '","client":{"ip":"' +
    jsonText(x.clientIp) +
    (x.clientPort === 0 ? '"' : '","port":' + count(x.clientPort)) +
    '},"http":{"method":"' +
    jsonText(x.method)
  )
}

/** Ends inside a string, like the text before it. */
function apiPart({ name, group, revision }: RouteApi, known: Memo<string>): string {
  return (
    '","api":"' +
    known.get(name) +
    (group === null ? '' : '","group":"' + known.get(group)) +
    (revision === null ? '' : '","revision":"' + known.get(revision))
  )
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

function upstreamPart(x: Exchange, known: Memo<string>, full: boolean): string {
  const { attempts } = x
  const { trace } = x.record
  return (
    '},"up":{"name":"' +
    known.get(attempts.upstream) +
    '"' +
    (attempts.target === '' ? '' : ',"addr":"' + known.get(attempts.target) + '"') +
    (attempts.status > 0 ? ',"status":' + count(attempts.status) : '') +
    ',"attempts":' +
    count(attempts.count) +
    (attempts.retries > 0 ? ',"retries":' + count(attempts.retries) : '') +
    (attempts.failovers > 0 ? ',"failovers":' + count(attempts.failovers) : '') +
    (attempts.isReused ? ',"reused":true' : '') +
    // Both transports use HTTP/1.1.
    (full ? ',"http":"1.1"' : '') +
    (trace === null ? '}' : triesPart(trace, known) + '}')
  )
}

function errorPart(x: Exchange, known: Memo<string>): string {
  return (
    '","error":{"code":"' +
    x.errorCode +
    (x.errorPolicy === '' ? '' : '","policy":"' + known.get(x.errorPolicy)) +
    '","phase":"' +
    PHASE_NAMES[x.errorPhase]! +
    (x.record.reason === '' ? '' : '","reason":"' + jsonText(x.record.reason)) +
    (x.errorMessage === '' ? '"}' : '","msg":"' + jsonText(x.errorMessage) + '"}')
  )
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

function textPart(opening: string, text: string): string {
  return text === '' ? '' : opening + jsonText(text) + '"'
}

/** Returns 0 for a value that would make the JSON invalid, such as NaN. */
function count(value: number): number {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0
}
