import { decodedForm, QueryCursor } from '@sluice/core'

const cursor = new QueryCursor()

/**
 * The value of a query parameter as `@query-param` takes it (RFC 9421 section 2.2.8): decoded like a form and encoded
 * again. Null when it is absent or repeated, and when its escapes are broken: two different queries must not look the
 * same.
 * @param name encoded.
 */
export function queryParameter(query: string, name: string): string | null {
  let found: string | null = null
  cursor.read(query)
  while (cursor.advance()) {
    if (cursor.start === cursor.end || reencoded(cursor.rawName) !== name) continue
    if (found !== null) return null
    found = reencoded(cursor.rawValue)
    if (found === null) return null
  }
  return found
}

function reencoded(text: string): string | null {
  const plain = decodedForm(text)
  if (plain === null) return null
  return encodeURIComponent(plain).replaceAll(
    /[!'()~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
