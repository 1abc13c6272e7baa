const AMPERSAND = 38
const EQUALS = 61

/** Says that a parameter stands more than once. */
export const REPEATED = -2
/** Says that a parameter is absent. */
export const ABSENT = -1

/**
 * Where `name` or `name=…` begins in a query; ABSENT or REPEATED otherwise. Names are compared as an upstream would
 * read them, so that a second one cannot hide behind an escape.
 */
export function parameterStart(query: string, name: string): number {
  let found = ABSENT
  let start = 0
  while (start < query.length) {
    const end = parameterEnd(query, start)
    if (hasName(query, start, end, name)) {
      if (found !== ABSENT) return REPEATED
      found = start
    }
    start = end + 1
  }
  return found
}

/** The decoded value of the parameter that begins at `start`; null when an escape in it is broken. "+" stays "+". */
export function parameterValue(query: string, start: number): string | null {
  const end = parameterEnd(query, start)
  const equals = query.indexOf('=', start)
  if (equals === -1 || equals >= end) return ''
  return decoded(query.slice(equals + 1, end))
}

/** The query without the parameter that begins at `start` and one "&" beside it; every other byte stays. */
export function withoutParameter(query: string, start: number): string {
  const end = parameterEnd(query, start)
  if (end < query.length) return query.slice(0, start) + query.slice(end + 1)
  return start === 0 ? '' : query.slice(0, start - 1)
}

function parameterEnd(query: string, start: number): number {
  const end = query.indexOf('&', start)
  return end === -1 ? query.length : end
}

function hasName(query: string, start: number, end: number, name: string): boolean {
  const after = start + name.length
  if (query.startsWith(name, start)) {
    const code = after === query.length ? AMPERSAND : query.charCodeAt(after)
    if (code === AMPERSAND || code === EQUALS) return true
  }
  const equals = query.indexOf('=', start)
  const written = query.slice(start, equals === -1 || equals > end ? end : equals)
  return written.includes('%') && decoded(written) === name
}

function decoded(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
