/** A way into a JSON document: keys of objects and positions in arrays. */
export type JsonPath = readonly (string | number)[]

/** A piece of the text of a document, the end not included. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The same name stands twice in an object on the way: readers would disagree about which counts. */
export class DuplicateName extends Error {}

const BACKSLASH = 92
const COMMA = 44

/**
 * Where the value at a path stands in the text; null when there is none. Works on the text, so that a change of one
 * value leaves every other byte as it was: parsing and writing again would lose large numbers and the order of keys.
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

/** The text with another value at the path, which is added to its object when it is new; null when it cannot be. */
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

/** The text without the member at the path, whose last step is a key, and one comma beside it. */
export function withoutValue(text: string, path: JsonPath): string {
  const parent = valueAt(text, path.slice(0, -1))
  const found = parent === null ? null : memberOf(text, parent.start, path.at(-1) as string)
  if (found === null) return text
  const after = skipSpace(text, skipValue(text, found.value))
  if (text.charCodeAt(after) === COMMA) return text.slice(0, found.name) + text.slice(after + 1)
  return text.slice(0, found.comma === -1 ? found.name : found.comma) + text.slice(after)
}

interface Found {
  /** Where the value begins. */
  readonly value: number
  /** Where its name begins. */
  readonly name: number
  /** The comma before the name; -1 for the first. */
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

/** A name may be written with escapes and still be the same. */
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

/** After the closing quote of the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote, start)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

/** An odd number of backslashes before it makes a quote a part of its string. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let at = quote - 1
  while (at > start && text.charCodeAt(at) === BACKSLASH) at--
  return (quote - 1 - at) % 2 === 1
}

/** After the value that begins at `start`; depth costs no stack. */
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
