import { type Exchange, headerJoined, headerValue, queryValue, trimOws } from '@sluice/core'
import type { Value } from './value.js'

type Reader = (x: Exchange) => Value
type KeyReader = (x: Exchange, key: string) => string | null

/** Variables with a single value. */
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

/**
 * Variables that are maps, with the function that reads one key. The compiler lower-cases the keys of header
 * maps.
 */
export const MAPS: Readonly<Record<string, KeyReader>> = {
  'req.header': requestHeader,
  'req.query': (x, key) => queryValue(x.query, key),
  'req.cookie': (x, key) => cookieValue(x.headers, key),
  'req.params': (x, key) => x.params[x.paramNames.indexOf(key)] ?? null,
  'res.header': (x, key) => headerJoined(x.responseHeaders, key),
  'consumer.claims': (x, key) => x.consumer?.claims?.get(key) ?? null,
  'jwt.claims': (x, key) => x.claims?.get(key) ?? null,
  vars: (x, key) => x.vars?.get(key) ?? null,
}

/** Returns a request header. Host and Content-Length are stored separately from the forwarded fields. */
function requestHeader(x: Exchange, name: string): string | null {
  if (name === 'host') return x.authority
  if (name === 'content-length') return x.contentLength < 0 ? null : String(x.contentLength)
  const first = headerValue(x.headers, name)
  return first === null ? null : headerJoined(x.headers, name)
}

/** Returns the value of a cookie without surrounding quotes (RFC 6265 section 4.2.1), or null if absent. */
function cookieValue(headers: readonly string[], name: string): string | null {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'cookie') continue
    // Commas do not separate cookies: most servers treat them as part of the value.
    for (const pair of headers[i + 1]!.split(';')) {
      const equals = pair.indexOf('=')
      if (equals <= 0 || trimOws(pair.slice(0, equals)) !== name) continue
      const value = trimOws(pair.slice(equals + 1))
      return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
    }
  }
  return null
}
