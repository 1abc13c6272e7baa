/**
 * The value of a query parameter as `@query-param` takes it (RFC 9421 section 2.2.8): decoded like a form and encoded
 * again. Null when it is absent or repeated, and when its escapes are broken: two different queries must not look the
 * same.
 * @param name encoded.
 */
export function queryParameter(query: string, name: string): string | null {
  let found: string | null = null
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const written = equals === -1 ? pair : pair.slice(0, equals)
    if (reencoded(written) !== name) continue
    if (found !== null) return null
    found = equals === -1 ? '' : reencoded(pair.slice(equals + 1))
    if (found === null) return null
  }
  return found
}

function reencoded(text: string): string | null {
  try {
    return encodeURIComponent(decodeURIComponent(text.replaceAll('+', ' '))).replaceAll(
      /[!'()~]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  } catch {
    return null
  }
}
