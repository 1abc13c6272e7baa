import { type Exchange, headerJoined, headerValue, queryValue } from '@sluice/core'
import type { Value } from './value.js'

type Reader = (x: Exchange) => Value
type KeyReader = (x: Exchange, key: string) => string | null

/** The variables with one value. */
export const SCALARS: Readonly<Record<string, Reader>> = {
  'req.id': (x) => x.id,
  'req.method': (x) => x.method,
  'req.path': (x) => x.path,
  'req.host': (x) => x.host,
  'req.scheme': (x) => x.scheme,
  'req.contentLength': (x) => x.contentLength,
  'client.ip': (x) => x.clientIp,
  'client.certSubject': (x) => x.clientCertificate?.subject ?? null,
  'client.certIssuer': (x) => x.clientCertificate?.issuer ?? null,
  'client.certNames': (x) => x.clientCertificate?.names ?? null,
  'client.certSerial': (x) => x.clientCertificate?.serial ?? null,
  'client.certFingerprint': (x) => x.clientCertificate?.fingerprint ?? null,
  'consumer.id': (x) => x.consumer?.id ?? null,
  'consumer.name': (x) => x.consumer?.name ?? null,
  'consumer.auth': (x) => x.consumer?.auth ?? null,
  'consumer.credential': (x) => x.consumer?.credential ?? null,
  'consumer.groups': (x) => x.consumer?.groups ?? null,
  'consumer.roles': (x) => x.consumer?.roles ?? null,
  'consumer.scopes': (x) => x.consumer?.scopes ?? null,
  'res.status': (x) => x.status,
  'upstream.name': (x) => x.attempts.upstream,
  'upstream.target': (x) => x.target,
  'upstream.status': (x) => x.upstreamStatus,
  result: (x) => x.result,
  route: (x) => x.routeId,
  'api.name': (x) => x.api?.name ?? null,
  'api.group': (x) => x.api?.group ?? null,
  'api.revision': (x) => x.api?.revision ?? null,
  'error.code': (x) => x.errorCode,
  'error.policy': (x) => x.errorPolicy,
  't.total': (x) => Math.floor(x.endedMono - x.startedMono),
}

/** The variables that are maps: how one key is read. Keys of header maps are made lower-case by the compiler. */
export const MAPS: Readonly<Record<string, KeyReader>> = {
  'req.header': requestHeader,
  'req.query': (x, key) => queryValue(x.query, key),
  'req.cookie': (x, key) => cookieValue(headerJoined(x.headers, 'cookie'), key),
  'req.params': (x, key) => x.params[x.paramNames.indexOf(key)] ?? null,
  'res.header': (x, key) => headerJoined(x.responseHeaders, key),
  'consumer.claims': (x, key) => x.consumer?.claims?.get(key) ?? null,
  'jwt.claims': (x, key) => x.claims?.get(key) ?? null,
  vars: (x, key) => x.vars?.get(key) ?? null,
}

/** Host and Content-Length are not among the fields that are forwarded, but people ask for them like any other. */
function requestHeader(x: Exchange, name: string): string | null {
  if (name === 'host') return x.authority
  if (name === 'content-length') return x.contentLength < 0 ? null : String(x.contentLength)
  const first = headerValue(x.headers, name)
  return first === null ? null : headerJoined(x.headers, name)
}

/** The value of a cookie (RFC 6265 section 4.2.1), without surrounding quotes; null when absent. */
function cookieValue(field: string | null, name: string): string | null {
  if (field === null) return null
  for (const pair of field.split(/[;,]/)) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return null
}
