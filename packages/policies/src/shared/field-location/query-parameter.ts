import { decodedUrl, QueryCursor } from '@sluice/core'

/** Result for a duplicate parameter. */
export const REPEATED = -2
/** Result for an absent parameter. */
export const ABSENT = -1

const cursor = new QueryCursor()

/** Checks a configured name. @throws Error if it would need an escape. */
export function parameterName(written: string): string {
  if (/^[\w.~-]+$/.test(written)) return written
  throw new Error(
    `'${written}' is not a name for a cookie or query parameter; use letters, digits and '-._~'`,
  )
}

/**
 * Returns the start of `name` or `name=…` in a query, ABSENT or REPEATED. Compares decoded names as an upstream does,
 * so that a duplicate cannot hide behind an escape.
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

/** Returns the decoded value of the parameter that begins at `start`, or null for an invalid escape. "+" stays "+". */
export function parameterValue(query: string, start: number): string | null {
  cursor.read(query, start)
  cursor.advance()
  return decodedUrl(cursor.rawValue)
}

/** Returns the query without the parameter that begins at `start` and one adjacent "&". Every other byte stays. */
export function withoutParameter(query: string, start: number): string {
  cursor.read(query, start)
  cursor.advance()
  const { end } = cursor
  if (end < query.length) return query.slice(0, start) + query.slice(end + 1)
  return start === 0 ? '' : query.slice(0, start - 1)
}

/** Returns the query without the parameters of this name, however they are escaped. Every other byte stays. */
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
