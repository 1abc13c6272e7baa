import type { OutgoingHttpHeaders } from 'node:http2'
import { HeaderCache } from '@sluice/core'
import { checkField, REFUSED } from '../../response-head.js'

/** Connection-specific fields, which HTTP/2 does not allow (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

const OK = '+'
const NONE = '-'
/** Cache of validated fields, which need no further check. */
const FIELDS = new HeaderCache((name, value) =>
  CONNECTION_FIELDS.has(name) || checkField(name, value) === REFUSED ? NONE : OK,
)

/**
 * Builds the fields of a response for node:http2.
 * @param length Content-Length to announce, or -1 for none.
 */
export function responseFields(
  status: number,
  headers: readonly string[],
  length: number,
): OutgoingHttpHeaders {
  const fields = {
    __proto__: null,
    ':status': isFinal(status) ? status : 502,
  } as unknown as OutgoingHttpHeaders
  addFields(fields, headers)
  if (length >= 0) fields['content-length'] = length
  return fields
}

/** Returns true for a final status. HTTP/2 has no 101, and informational responses are not forwarded. */
function isFinal(status: number): boolean {
  return status >= 200 && status <= 599
}

/** Builds the trailers of a response (RFC 9113 section 8.1). */
export function trailerFields(trailers: readonly string[]): OutgoingHttpHeaders {
  const fields = { __proto__: null } as unknown as OutgoingHttpHeaders
  addFields(fields, trailers)
  return fields
}

function addFields(fields: OutgoingHttpHeaders, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (FIELDS.line(name, value) !== OK) continue
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else fields[name] = name === 'set-cookie' ? bothOf(before, value) : `${String(before)}, ${value}`
  }
}

/** Collects the values of Set-Cookie, the only field whose lines cannot be joined (RFC 9110 section 5.3). */
function bothOf(before: number | string | readonly string[], value: string): string[] {
  return Array.isArray(before) ? [...(before as string[]), value] : [String(before), value]
}
