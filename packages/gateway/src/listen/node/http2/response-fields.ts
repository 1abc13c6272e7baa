import { HeaderCache } from '@sluice/core'
import { dateLine } from '../../date-line.js'
import { checkField, REFUSED } from '../../response-head.js'
import { STATIC_TABLE } from './hpack-tables.js'

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

/** Index of a name in the static table. */
const NAMES = new Map<string, number>()
/** Encoded statuses of the static table. */
const STATUSES = new Map<string, string>()
for (let i = STATIC_TABLE.length - 2; i >= 0; i -= 2) {
  NAMES.set(STATIC_TABLE[i]!, i / 2 + 1)
  if (STATIC_TABLE[i] === ':status') STATUSES.set(STATIC_TABLE[i + 1]!, String.fromCharCode(0x81 + i / 2))
}

/** Prefixes of literals that are not added to the dynamic table (RFC 7541 section 6.2). */
const NOT_INDEXED = 0
const NEVER_INDEXED = 0x10

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
  let block = encodeStatus(isFinal(status) ? status : 502)
  const line = dateLine()
  if (line !== date) {
    date = line
    dateField = encodeField('date', line.slice(line.indexOf(':') + 2))
  }
  block += dateField + encodeFields(headers)
  return length < 0 ? block : block + encodeField('content-length', String(length))
}

/** Encoded head of a `100 Continue` response. */
export const CONTINUE = encodeStatus(100)

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

function encodeStatus(status: number): string {
  return STATUSES.get(String(status)) ?? encodeField(':status', String(status))
}

function encodeField(name: string, value: string): string {
  const kind = name === 'set-cookie' ? NEVER_INDEXED : NOT_INDEXED
  const index = NAMES.get(name) ?? 0
  const start = encodeInteger(index, 4, kind) + (index === 0 ? encodeString(name) : '')
  return start + encodeString(value)
}

function encodeString(text: string): string {
  return encodeInteger(text.length, 7, 0) + text
}

/** Encodes an integer with a prefix of some bits (RFC 7541 section 5.1). */
function encodeInteger(value: number, bits: number, first: number): string {
  const mask = (1 << bits) - 1
  if (value < mask) return String.fromCharCode(first | value)
  let text = String.fromCharCode(first | mask)
  let rest = value - mask
  for (; rest >= 128; rest >>= 7) text += String.fromCharCode((rest & 127) | 128)
  return text + String.fromCharCode(rest)
}
