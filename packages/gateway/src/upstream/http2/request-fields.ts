import { HeaderCache, headerValue } from '@sluice/core'
import { consistsOf, TARGET_BYTES, TOKEN_BYTES, VALUE_BYTES } from '../../protocol/http1/byte-classes.js'
import { encodeField, encodeIndexed } from '../../protocol/http2/hpack-encoder.js'
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
const FIELDS = new HeaderCache((name, value) => {
  const lower = name.toLowerCase()
  if (OWN_FIELDS.has(lower)) return ''
  const isValid = name !== '' && consistsOf(name, TOKEN_BYTES) && consistsOf(value, VALUE_BYTES)
  return isValid ? encodeField(lower, value) : null
})
const HOSTS = new HeaderCache((name, value) =>
  consistsOf(value, VALUE_BYTES) ? encodeField(name, value) : null,
)
/** A gRPC server does not respond unless the client accepts trailers (gRPC over HTTP2, Requests). */
const TE_TRAILERS = encodeField('te', 'trailers')

/** Encodes the head of a request. Returns null if a part would change how the target parses it. */
export function encodeRequest(request: UpstreamRequest, isSecure: boolean): string | null {
  const { method, path, headers } = request
  const authority = HOSTS.line(':authority', request.host)
  const fields = encodeFields(headers)
  if (authority === null || fields === null || path === '' || !consistsOf(path, TARGET_BYTES)) return null
  if (method === '' || !consistsOf(method, TOKEN_BYTES)) return null
  const start = encodeIndexed(':method', method) + encodeIndexed(':scheme', isSecure ? 'https' : 'http')
  const block = start + authority + encodeIndexed(':path', path) + fields
  const length = lengthOf(request)
  const withLength = length < 0 ? block : block + encodeField('content-length', String(length))
  const isGrpc = headerValue(headers, 'content-type')?.startsWith('application/grpc') === true
  return isGrpc ? withLength + TE_TRAILERS : withLength
}

/** Encodes trailers, without those that cannot be sent. */
export function encodeTrailers(trailers: readonly string[] | null): string {
  return trailers === null ? '' : (encodeFields(forwardableTrailers(trailers) ?? []) ?? '')
}

function encodeFields(list: readonly string[]): string | null {
  let block = ''
  for (let i = 0; i < list.length; i += 2) {
    const field = FIELDS.line(list[i]!, list[i + 1]!)
    if (field === null) return null
    block += field
  }
  return block
}

function lengthOf({ method, body, upload }: UpstreamRequest): number {
  if (upload !== null) return upload.length
  if (body !== null && body.length > 0) return body.length
  return expectsBody(method) ? 0 : -1
}
