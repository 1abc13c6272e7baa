import { HeaderCache } from '@sluice/core'
import { encodeField, encodeIndexed } from '../../../protocol/http2/hpack-encoder.js'
import { dateLine } from '../../date-line.js'
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

/** Cache of validated and encoded fields. A field that must not be sent is encoded as nothing. */
const FIELDS = new HeaderCache((name, value) => {
  const lower = name.toLowerCase()
  return CONNECTION_FIELDS.has(lower) || checkField(name, value) === REFUSED ? '' : encodeField(lower, value)
})

let date = ''
let dateField = ''

/**
 * Encodes the fields of a response as Latin-1 text. The dynamic table is not used, so the text depends on nothing else.
 * @param length Content-Length to announce, or -1 for none.
 */
export function encodeResponse(status: number, headers: readonly string[], length: number): string {
  const final = isFinal(status) ? status : 502
  let block = encodeIndexed(':status', String(final))
  const line = dateLine()
  if (line !== date) {
    date = line
    dateField = encodeField('date', line.slice(line.indexOf(':') + 2))
  }
  block += dateField + encodeFields(headers)
  return length < 0 ? block : block + encodeField('content-length', String(length))
}

/** Encoded head of a `100 Continue` response. */
export const CONTINUE = encodeField(':status', '100')

/** Encodes fields without a status, such as trailers (RFC 9113 section 8.1). */
export function encodeFields(fields: readonly string[]): string {
  let block = ''
  for (let i = 0; i < fields.length; i += 2) block += FIELDS.line(fields[i]!, fields[i + 1]!) ?? ''
  return block
}

/** Returns true for a final status. HTTP/2 has no 101, and informational responses are not forwarded. */
function isFinal(status: number): boolean {
  return status >= 200 && status <= 599
}
