import { STATIC_TABLE } from './hpack-tables.js'

/** Index of a name in the static table. */
const NAMES = new Map<string, number>()
/** Encoded fields of the static table that have a value: `name:value` to one byte. */
const INDEXED = new Map<string, string>()
for (let i = STATIC_TABLE.length - 2; i >= 0; i -= 2) {
  const name = STATIC_TABLE[i]!
  const value = STATIC_TABLE[i + 1]!
  NAMES.set(name, i / 2 + 1)
  if (value !== '') INDEXED.set(name + value, String.fromCharCode(0x81 + i / 2))
}

/** Prefixes of literals that are not added to the dynamic table (RFC 7541 section 6.2). */
const NOT_INDEXED = 0
const NEVER_INDEXED = 0x10

/** Fields that no intermediary may add to a table (RFC 7541 section 7.1.3). */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
])

/** Encodes a field, if possible as an entry of the static table. */
export function encodeIndexed(name: string, value: string): string {
  return INDEXED.get(name + value) ?? encodeField(name, value)
}

/** Encodes a field as Latin-1 text (RFC 7541 section 6.2). The dynamic table and Huffman codes are not used. */
export function encodeField(name: string, value: string): string {
  const kind = SECRET_FIELDS.has(name) ? NEVER_INDEXED : NOT_INDEXED
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
