/** Path in a JSON document: keys of objects and positions in arrays. */
export type JsonPath = readonly (string | number)[]

/** A range of the document's text. The end is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Thrown if an object on the path has a duplicate name, because parsers disagree on which one counts. */
export class DuplicateName extends Error {}

const BACKSLASH = 92
const COMMA = 44

/**
 * Returns the range of the value at a path, or null. Works on the text so that a change leaves every other byte as it
 * was. Parsing and serializing would lose large numbers.
 * @param text a valid JSON document.
 * @throws DuplicateName
 */
export function valueAt(text: string, path: JsonPath): Span | null {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const member = typeof step === 'string' ? memberOf(text, at, step) : elementOf(text, at, step)
    if (member === null) return null
    at = member.value
  }
  return { start: at, end: skipValue(text, at) }
}

/**
 * Returns the text with a new value at the path, or null if that is impossible. Adds the member to its object if
 * necessary.
 */
export function withValue(text: string, path: JsonPath, value: string): string | null {
  const span = valueAt(text, path)
  if (span !== null) return text.slice(0, span.start) + value + text.slice(span.end)
  const name = path.at(-1)
  const parent = valueAt(text, path.slice(0, -1))
  if (typeof name !== 'string' || parent === null || text[parent.start] !== '{') return null
  const isEmpty = text[skipSpace(text, parent.start + 1)] === '}'
  const member = `${isEmpty ? '' : ','}${JSON.stringify(name)}:${value}`
  return text.slice(0, parent.end - 1) + member + text.slice(parent.end - 1)
}

/** Returns the text without the member at the path and one adjacent comma. The last step must be a key. */
export function withoutValue(text: string, path: JsonPath): string {
  const parent = valueAt(text, path.slice(0, -1))
  const found = parent === null ? null : memberOf(text, parent.start, path.at(-1) as string)
  if (found === null) return text
  const after = skipSpace(text, skipValue(text, found.value))
  if (text.charCodeAt(after) === COMMA) return text.slice(0, found.name) + text.slice(after + 1)
  return text.slice(0, found.comma === -1 ? found.name : found.comma) + text.slice(after)
}

interface Found {
  /** Start of the value. */
  readonly value: number
  /** Start of the name. */
  readonly name: number
  /** Position of the comma before the name, or -1. */
  readonly comma: number
}

function memberOf(text: string, object: number, wanted: string): Found | null {
  if (text[object] !== '{') return null
  let found: Found | null = null
  let comma = -1
  for (let at = skipSpace(text, object + 1); text[at] !== '}'; ) {
    const nameEnd = skipString(text, at)
    const value = skipSpace(text, skipSpace(text, nameEnd) + 1)
    if (isName(text, at, nameEnd, wanted)) {
      if (found !== null) throw new DuplicateName()
      found = { value, name: at, comma }
    }
    const next = skipSpace(text, skipValue(text, value))
    if (text.charCodeAt(next) !== COMMA) break
    comma = next
    at = skipSpace(text, next + 1)
  }
  return found
}

function elementOf(text: string, array: number, wanted: number): Pick<Found, 'value'> | null {
  if (text[array] !== '[') return null
  let at = skipSpace(text, array + 1)
  if (text[at] === ']') return null
  for (let i = 0; i < wanted; i++) {
    const next = skipSpace(text, skipValue(text, at))
    if (text.charCodeAt(next) !== COMMA) return null
    at = skipSpace(text, next + 1)
  }
  return { value: at }
}

/** Returns true if a written name, possibly with escapes, equals the wanted one. */
function isName(text: string, start: number, end: number, wanted: string): boolean {
  if (end - start === wanted.length + 2 && text.startsWith(wanted, start + 1)) return true
  const written = text.slice(start, end)
  return written.includes('\\') && JSON.parse(written) === wanted
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at++
  }
}

/** Returns the position after the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote, start)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

/** Returns true if an odd number of backslashes precedes the quote. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let at = quote - 1
  while (at > start && text.charCodeAt(at) === BACKSLASH) at--
  return (quote - 1 - at) % 2 === 1
}

/** Returns the position after the value that begins at `start`. Nesting uses no stack. */
function skipValue(text: string, start: number): number {
  let depth = 0
  let at = start
  for (;;) {
    const char = text[at]
    if (char === '"') at = skipString(text, at)
    else if (char === '{' || char === '[') {
      depth++
      at++
    } else if (char === '}' || char === ']') {
      depth--
      at++
    } else if (depth === 0) return skipScalar(text, at)
    else at++
    if (depth === 0) return at
  }
}

function skipScalar(text: string, start: number): number {
  let at = start
  while (at < text.length && !' \n\r\t,]}'.includes(text[at]!)) at++
  return at
}
