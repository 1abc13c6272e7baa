/** A JSON object whose names are all different. Read its members with Object.hasOwn: names come from outside. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Deepest nesting that is read; headers and claims have two or three levels. */
const MAX_DEPTH = 32
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The object that bytes spell. Null for bytes that are not UTF-8, not JSON, no object, nested too deep, or name a
 * member twice: two readers could take such a text for two things (RFC 7515 section 4, RFC 7519 section 4).
 */
export function parseStrictObject(bytes: Uint8Array): JsonObject | null {
  try {
    const text = UTF8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && hasDistinctNames(text) ? value : null
  } catch {
    return null
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of that name; undefined when there is none. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Whether no object in the text has a name twice, and none lies too deep. JSON.parse has read the text before, so it is
 * known to be well-formed: one walk over its characters is enough, with the names of each open object on a stack.
 */
function hasDistinctNames(text: string): boolean {
  const open: (Set<string> | null)[] = []
  let isName = false
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = stringEnd(text, i)
        if (isName && isRepeated(open.at(-1)!, text.slice(i, end + 1))) return false
        i = end
        break
      }
      case OPEN_OBJECT:
        if (open.push(new Set()) > MAX_DEPTH) return false
        isName = true
        break
      case OPEN_LIST:
        if (open.push(null) > MAX_DEPTH) return false
        isName = false
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop()
        isName = false
        break
      case COMMA:
        isName = open.at(-1) !== null
        break
      case COLON:
        isName = false
    }
  }
  return true
}

/** Names are compared as a reader would see them: `"alg"` and `"\u0061lg"` are the same. */
function isRepeated(names: Set<string>, written: string): boolean {
  const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
  if (names.has(name)) return true
  names.add(name)
  return false
}

/** Where the string that begins at `open` has its closing quote. */
function stringEnd(text: string, open: number): number {
  const quote = text.indexOf('"', open + 1)
  // Nearly all strings are without escapes: their end is found by the engine.
  if (text.charCodeAt(quote - 1) !== BACKSLASH) return quote
  for (let i = open + 1; ; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) return i
    if (code === BACKSLASH) i++
  }
}
