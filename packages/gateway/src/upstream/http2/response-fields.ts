import { contentLengthOf } from '@sluice/core'
import { consistsOf, TOKEN_BYTES, VALUE_BYTES } from '../../protocol/http1/byte-classes.js'

/** Fields of HTTP/1.1 connections, which make a response malformed (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** Returns the status of a response, or -1 if its fields are malformed (RFC 9113 section 8.1.1). */
export function statusOf(fields: readonly string[]): number {
  const status = fields[0] === ':status' && fields[1]!.length === 3 ? contentLengthOf(fields[1]!) : -1
  let hasLength = false
  for (let i = 2; i < fields.length; i += 2) {
    if (!isField(fields[i]!, fields[i + 1]!)) return -1
    if (fields[i] !== 'content-length') continue
    if (hasLength || contentLengthOf(fields[i + 1]!) < 0) return -1
    hasLength = true
  }
  return status
}

/** Returns true if the fields can be trailers. */
export function areTrailers(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) if (!isField(fields[i]!, fields[i + 1]!)) return false
  return true
}

/** Returns true for a valid field. Pseudo-header fields and names with capital letters are not. */
function isField(name: string, value: string): boolean {
  if (name === '' || !consistsOf(name, TOKEN_BYTES) || !consistsOf(value, VALUE_BYTES)) return false
  return !CONNECTION_FIELDS.has(name)
}
