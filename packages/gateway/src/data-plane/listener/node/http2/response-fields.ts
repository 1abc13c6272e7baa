import type { OutgoingHttpHeaders } from 'node:http2'
import { HeaderCache } from '@sluice/core'
import { checkField, REFUSED } from '../../response-head.js'

/** Fields of a connection, which HTTP/2 does not have (RFC 9113 section 8.2.2). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
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
/** Fields that came before and may go out need not be checked again. */
const FIELDS = new HeaderCache((name, value) =>
  OF_CONNECTION.has(name) || checkField(name, value) === REFUSED ? NONE : OK,
)

/** The fields of a response as node:http2 takes them. @param length the Content-Length to announce; -1: none. */
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

/** What node:http2 takes; HTTP/2 has no 101, and informational responses are not passed on. */
function isFinal(status: number): boolean {
  return status >= 200 && status <= 599
}

/** Those after a body (RFC 9113 section 8.1). */
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

/** The one field whose lines cannot be joined (RFC 9110 section 5.3). */
function bothOf(before: number | string | readonly string[], value: string): string[] {
  return Array.isArray(before) ? [...(before as string[]), value] : [String(before), value]
}
