import { decodedUrl, QueryCursor } from '@sluice/core'

/** Says that a parameter stands more than once. */
export const REPEATED = -2
/** Says that a parameter is absent. */
export const ABSENT = -1

const cursor = new QueryCursor()

/** A configured name. @throws Error when it would need an escape. */
export function parameterName(written: string): string {
  if (/^[\w.~-]+$/.test(written)) return written
  throw new Error(
    `'${written}' is not a name for a cookie or query parameter; use letters, digits and '-._~'`,
  )
}

/**
 * Where `name` or `name=…` begins in a query; ABSENT or REPEATED otherwise. Names are compared as an upstream would
 * read them, so that a second one cannot hide behind an escape.
 */
export function parameterStart(query: string, name: string): number {
  let found = ABSENT
  cursor.read(query)
  while (cursor.advance()) {
    if (!cursor.hasName(name)) continue
    if (found !== ABSENT) return REPEATED
    found = cursor.start
  }
  return found
}

/** The decoded value of the parameter that begins at `start`; null when an escape in it is broken. "+" stays "+". */
export function parameterValue(query: string, start: number): string | null {
  cursor.read(query, start)
  cursor.advance()
  return decodedUrl(cursor.rawValue)
}

/** The query without the parameter that begins at `start` and one "&" beside it; every other byte stays. */
export function withoutParameter(query: string, start: number): string {
  cursor.read(query, start)
  cursor.advance()
  const { end } = cursor
  if (end < query.length) return query.slice(0, start) + query.slice(end + 1)
  return start === 0 ? '' : query.slice(0, start - 1)
}

/** The query without any parameter of this name, however it is escaped; every other byte stays. */
export function withoutParameters(query: string, name: string): string {
  let rest = query
  cursor.read(rest)
  while (cursor.advance()) {
    if (!cursor.hasName(name)) continue
    const { start } = cursor
    rest = withoutParameter(rest, start)
    cursor.read(rest, Math.min(start, rest.length))
  }
  return rest
}
