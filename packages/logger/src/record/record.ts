import { type Consumer, type Exchange, headerValue } from '@sluice/core'
import { fieldsPart, urlRest, variablesPart } from './full-parts.js'
import { millisText } from './iso-clock.js'
import { jsonText } from './json-text.js'
import type { KnownTexts } from './known-texts.js'
import type { RecordEnv } from './record-env.js'

/**
 * One finished exchange as one line of JSON in printable ASCII, without the newline; the exchange ends now.
 * What is absent or empty is left out. Written by hand because it runs once a request on the request path.
 */
export function encodeRecord(x: Exchange, env: RecordEnv): string {
  const totalMs = performance.now() - x.startedMono
  const head = '{"@timestamp":"' + env.clock.text(x.startedAt) + '","id":"' + jsonText(x.id) + '"'
  if (env.fields === 'minimal') return head + minimalParts(x, env.known, totalMs) + '}'
  const full = env.fields === 'full'
  return (
    head +
    env.gateway.text() +
    requestParts(x, env.known, full ? urlRest(x, env.sensitive) : '') +
    responseParts(x, env.known, totalMs) +
    (full ? variablesPart(x, env.sensitive) + fieldsPart(x, env.sensitive) : '') +
    '}'
  )
}

function minimalParts(x: Exchange, known: KnownTexts, totalMs: number): string {
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

function requestParts(x: Exchange, known: KnownTexts, urlRest: string): string {
  return (
    (x.consumer === null ? '' : consumerPart(x.consumer, known)) +
    routePart(x, known) +
    '"},"url":{"host":"' +
    jsonText(x.host) +
    '","path":"' +
    jsonText(x.path === '' ? x.rawPath : x.path) +
    '"' +
    urlRest +
    '},"req":{"bytes_b":' +
    count(x.requestBytes) +
    textPart(',"ct":"', headerValue(x.headers, 'content-type')) +
    '}' +
    textPart(',"ua":"', headerValue(x.headers, 'user-agent'))
  )
}

function responseParts(x: Exchange, known: KnownTexts, totalMs: number): string {
  const firstByteMs = x.respondedMono - x.dispatchedMono
  return (
    ',"res":{"status":' +
    count(x.status) +
    ',"bytes_b":' +
    count(x.responseBytes) +
    textPart(',"ct":"', headerValue(x.responseHeaders, 'content-type')) +
    (x.upstream === '' ? '}' : upstreamPart(x, known)) +
    ',"t":{"total":' +
    millisText(totalMs) +
    (firstByteMs > 0 ? ',"up_ttfb":' + millisText(firstByteMs) : '') +
    '},"result":"' +
    x.result +
    (x.errorCode === '' ? '"' : errorPart(x))
  )
}

/** Left open after the method, because both callers go on with `"}`. */
function routePart(x: Exchange, known: KnownTexts): string {
  return (
    ',"route":"' +
    known.json(x.routeId) +
    '","client":{"ip":"' +
    jsonText(x.clientIp) +
    '"},"http":{"method":"' +
    jsonText(x.method)
  )
}

function consumerPart(consumer: Consumer, known: KnownTexts): string {
  return (
    ',"consumer":{"id":"' +
    known.json(consumer.id) +
    '","name":"' +
    known.json(consumer.name) +
    '","auth":"' +
    known.json(consumer.auth) +
    '"}'
  )
}

function upstreamPart(x: Exchange, known: KnownTexts): string {
  return (
    '},"up":{"name":"' +
    known.json(x.upstream) +
    '"' +
    (x.target === '' ? '' : ',"addr":"' + known.json(x.target) + '"') +
    (x.upstreamStatus > 0 ? ',"status":' + count(x.upstreamStatus) : '') +
    ',"attempts":' +
    count(x.attempts) +
    '}'
  )
}

function errorPart(x: Exchange): string {
  return '","error":{"code":"' + x.errorCode + '"' + textPart(',"policy":"', x.errorPolicy) + '}'
}

function textPart(opening: string, text: string | null): string {
  return text === null || text === '' ? '' : opening + jsonText(text) + '"'
}

/** A number that came from elsewhere must not be able to break the JSON. */
function count(value: number): number {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0
}
