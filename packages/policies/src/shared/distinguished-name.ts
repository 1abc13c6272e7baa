/** One attribute of a name: its type in upper case, its value without escapes. */
export interface NameAttribute {
  readonly type: string
  readonly value: string
}

/** The parts of a distinguished name, the most specific first; a part has several attributes where `+` joins them. */
export type DistinguishedName = readonly (readonly NameAttribute[])[]

/** Longest name that is read, in characters, and its most attributes. */
const MAX_NAME = 4096
const MAX_ATTRIBUTES = 100
const TYPE = / *([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+) *= */y
/** A character that needs no escape, or an escape: of a character, or of a byte of UTF-8. */
const PIECE = /\\([ "#+,;<=>\\])|((?:\\[0-9A-Fa-f]{2})+)|([^"+,;<>\\]+)/y
const HEX_VALUE = /#(?:[0-9A-Fa-f]{2})+/y
const SEPARATOR = / *([,+]) */y

/** A distinguished name out of its text (RFC 4514); null: it is none. The empty text is the empty name. */
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
 * A text that two names have in common when they are equal: types are compared without case and values letter for letter,
 * whichever escapes they are written with, and whichever order attributes joined by `+` stand in. Null: it is no name.
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

/** The value for a distinguished name, escaped so that it stays one value (RFC 4514, 2.4). */
export function escapeNameValue(value: string): string {
  return value.replace(/^[ #]|[\u0000-\u001f"+,;<=>\\\u007f]| $/g, (character) =>
    character >= ' ' && character < '\u007f' ? `\\${character}` : hexEscapes(character),
  )
}

function hexEscapes(character: string): string {
  return `\\${Buffer.from(character).toString('hex').padStart(2, '0')}`
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

/** Spaces at the end belong to the value only where they are escaped. */
function valueAt(text: string, start: number): { value: string; end: number } | null {
  if (text[start] === '#') return null
  let value = ''
  let end = start
  /** Of the value, up to which spaces at its end were escaped. */
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

/** Bytes that are not UTF-8 are refused, never replaced: two names must not become one. */
function utf8Of(escapes: string): string | null {
  const bytes = Buffer.from(escapes.replaceAll('\\', ''), 'hex')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
