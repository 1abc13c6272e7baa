import type { OutgoingHttpHeaders } from 'node:http2'
import { headerValue } from '@sluice/core'
import { consistsOf, TARGET_BYTES, TOKEN_BYTES, VALUE_BYTES } from '../../protocol/http1/byte-classes.js'
import { forwardableTrailers } from '../../protocol/response-fields.js'
import { expectsBody } from '../http1/request-head.js'
import type { UpstreamRequest } from '../transport/transport.js'

/** Fields that HTTP/2 does not have (RFC 9113 section 8.2.2), and those set here. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** Builds the head of a request for node:http2. Returns null if a part would change how the target parses it. */
export function requestFields(request: UpstreamRequest, isSecure: boolean): OutgoingHttpHeaders | null {
  const { method, path, host, headers } = request
  if (!consistsOf(method, TOKEN_BYTES) || !consistsOf(path, TARGET_BYTES) || !consistsOf(host, VALUE_BYTES))
    return null
  const fields = plainFields(headers)
  if (fields === null) return null
  fields[':method'] = method
  fields[':path'] = path
  fields[':scheme'] = isSecure ? 'https' : 'http'
  fields[':authority'] = host
  const length = lengthOf(request)
  if (length >= 0) fields['content-length'] = length
  // A gRPC server does not respond unless the client accepts trailers (gRPC over HTTP2, Requests).
  if (headerValue(headers, 'content-type')?.startsWith('application/grpc') === true) fields['te'] = 'trailers'
  return fields
}

/** Builds trailers for node:http2, without those that cannot be sent. */
export function trailerFields(trailers: readonly string[] | null): OutgoingHttpHeaders {
  return plainFields(trailers === null ? [] : (forwardableTrailers(trailers) ?? [])) ?? {}
}

function plainFields(list: readonly string[]): Record<string, string | number | string[]> | null {
  const fields: Record<string, string | number | string[]> = Object.create(null)
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!
    const value = list[i + 1]!
    if (OWN_FIELDS.has(name)) continue
    if (name === '' || !consistsOf(name, TOKEN_BYTES) || !consistsOf(value, VALUE_BYTES)) return null
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else if (Array.isArray(before)) before.push(value)
    else fields[name] = [String(before), value]
  }
  return fields
}

function lengthOf({ method, body, upload }: UpstreamRequest): number {
  if (upload !== null) return upload.length
  if (body !== null && body.length > 0) return body.length
  return expectsBody(method) ? 0 : -1
}
