import { type Exchange, formText, plainName, QueryCursor } from '@sluice/core'

/** Matches `req.query["id"]` and `req.query.id`. Without a name, the expression reads the whole query. */
const QUERY = /\breq\.query\b(?:\[\s*(["'])([^"'\\]*)\1\s*\]|\.(\w+))?/g
const HEADER = /\breq\.header\b(?:\[\s*(["'])([^"'\\]*)\1\s*\]|\.(\w+))?/g

/**
 * Returns true if the request contains a key input more than once, so that the upstream may use a different
 * value.
 */
export type Ambiguity = (x: Exchange) => boolean

/**
 * Compiles a check for key inputs that applications interpret differently. Otherwise a client could poison
 * the cache: it would store a response that the upstream produced for another key.
 * @param texts expressions of the key.
 */
export function compileAmbiguity(texts: readonly string[]): Ambiguity {
  const checks: Ambiguity[] = []
  const query = namesIn(texts, QUERY)
  if (query !== null) checks.push((x) => x.query !== '' && isRepeated(x.query, query))
  const header = namesIn(texts, HEADER)
  if (header !== null) {
    const plain = new Set([...header].map((name) => plainName(name.toLowerCase())))
    checks.push((x) => hasLookalike(x.headers, plain))
  }
  return (x) => checks.some((check) => check(x))
}

/** Returns the names that the expressions read: null if none, empty if they cannot be determined. */
function namesIn(texts: readonly string[], pattern: RegExp): ReadonlySet<string> | null {
  const found = texts.flatMap((text) => [...text.matchAll(pattern)])
  if (found.length === 0) return null
  const names = found.map(([, , quoted, plain]) => quoted ?? plain)
  return names.includes(undefined) ? new Set() : new Set(names as string[])
}

/**
 * True if a name occurs twice. Some servers also split at `;`, and PHP reads `a.b` as `a_b` and `a[]` as `a`.
 */
function isRepeated(query: string, names: ReadonlySet<string>): boolean {
  if (query.includes(';')) return true
  const [cursor, seen] = [new QueryCursor(), new Set<string>()]
  const known = new Set([...names].map(phpName))
  cursor.read(query)
  while (cursor.advance()) {
    const name = phpName(formText(cursor.rawName))
    if (known.size > 0 && !known.has(name)) continue
    if (seen.has(name)) return true
    seen.add(name)
  }
  return false
}

function phpName(name: string): string {
  const at = name.indexOf('[', 1)
  const isArray = at > 0 && name.includes(']', at)
  return (isArray ? name.slice(0, at) : name).trimStart().replace(/[ .[]/g, '_')
}

/**
 * True if a field could be mistaken for one of these: CGI and similar interfaces do not distinguish `x_id`
 * from `x-id`.
 */
function hasLookalike(headers: readonly string[], plain: ReadonlySet<string>): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (name.includes('_') && (plain.size === 0 || plain.has(plainName(name)))) return true
  }
  return false
}
