/** An attribute of a name: its upper-case type and its unescaped value. */
export interface NameAttribute {
  readonly type: string
  readonly value: string
}

/** Parts of a distinguished name, the most specific first. A part has several attributes if they are joined by `+`. */
export type DistinguishedName = readonly (readonly NameAttribute[])[]

/** Maximum length of a name in characters, and maximum number of attributes. */
const MAX_NAME = 4096
const MAX_ATTRIBUTES = 100
const TYPE = / *([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+) *= */y
/** A plain character, or an escape of a character or of a UTF-8 byte. */
const PIECE = /\\([ "#+,;<=>\\])|((?:\\[0-9A-Fa-f]{2})+)|([^"+,;<>\\]+)/y
const HEX_VALUE = /#(?:[0-9A-Fa-f]{2})+/y
const SEPARATOR = / *([,+]) */y

/** Parses a distinguished name (RFC 4514), or returns null. An empty text is an empty name. */
export function parseDistinguishedName(text: string): DistinguishedName | null {
  if (text.length > MAX_NAME) return null
  if (text === '') return []
  const parts: NameAttribute[][] = [[]]
  for (let at = 0, count = 0; count < MAX_ATTRIBUTES; count++) {
    const read = attributeAt(text, at)
    if (read === null) return null
    parts.at(-1)!.push(read.attribute)
    if (read.end === text.length) return parts
    SEPARATOR.lastIndex = read.end
    const separator = SEPARATOR.exec(text)
    if (separator === null) return null
    if (separator[1] === ',') parts.push([])
    at = SEPARATOR.lastIndex
  }
  return null
}

/**
 * Returns a text that is the same for equal names, or null for an invalid name. Types are case-insensitive, values
 * case-sensitive. Escapes and the order of attributes joined by `+` make no difference.
 */
export function nameKey(text: string): string | null {
  const name = parseDistinguishedName(text)
  if (name === null) return null
  return JSON.stringify(name.map((part) => part.map(({ type, value }) => [type, value]).sort(inOrder)))
}

function inOrder(a: readonly string[], b: readonly string[]): number {
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)]
  if (first === second) return 0
  return first < second ? -1 : 1
}

/** Escapes a value for a distinguished name, so that it stays one value (RFC 4514 section 2.4). */
export function escapeNameValue(value: string): string {
  return value.replace(/^[ #]|[\u0000-\u001f"+,;<=>\\\u007f]| $/g, (character) =>
    character >= ' ' && character < '\u007f'
      ? `\\${character}`
      : `\\${Buffer.from(character).toString('hex').padStart(2, '0')}`,
  )
}

function attributeAt(text: string, at: number): { attribute: NameAttribute; end: number } | null {
  TYPE.lastIndex = at
  const type = TYPE.exec(text)
  if (type === null) return null
  const start = TYPE.lastIndex
  HEX_VALUE.lastIndex = start
  const hex = HEX_VALUE.exec(text)
  const read = hex === null ? valueAt(text, start) : { value: hex[0].toLowerCase(), end: HEX_VALUE.lastIndex }
  if (read === null) return null
  return { attribute: { type: type[1]!.toUpperCase(), value: read.value }, end: read.end }
}

/** Reads a value. Trailing spaces belong to it only if they are escaped. */
function valueAt(text: string, start: number): { value: string; end: number } | null {
  if (text[start] === '#') return null
  let value = ''
  let end = start
  /** Length of the value up to the last escaped character. */
  let kept = 0
  for (;;) {
    PIECE.lastIndex = end
    const piece = PIECE.exec(text)
    if (piece === null) break
    const [, escaped, bytes, plain] = piece
    const decoded = bytes === undefined ? (escaped ?? plain!) : utf8Of(bytes)
    if (decoded === null) return null
    value += decoded
    end = PIECE.lastIndex
    if (plain === undefined) kept = value.length
  }
  while (value.length > kept && value.endsWith(' ')) value = value.slice(0, -1)
  return { value, end }
}

/** Bytes that are not UTF-8 are refused, never replaced, so that no two names become equal. */
function utf8Of(escapes: string): string | null {
  const bytes = Buffer.from(escapes.replaceAll('\\', ''), 'hex')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
