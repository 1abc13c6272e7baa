/**
 * Returns the type and subtype of a Content-Type in lower case, without parameters (RFC 9110 section 8.3.1).
 */
export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

/** Media type of URL-encoded forms. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns true for JSON media types. @param type In lower case, without parameters. */
export function isJsonType(type: string): boolean {
  return type.endsWith('/json') || type.endsWith('+json')
}

/**
 * Returns true if an Accept field lists HTML and prefers none of `others` to it (RFC 9110 section 12.5.1).
 * Browsers list `text/html` explicitly. Programs that accept any media type do not, and cannot display a
 * page.
 * @param accept Null if the request has no Accept field.
 */
export function prefersHtml(accept: string | null, others: readonly string[]): boolean {
  if (accept === null) return false
  let html = 0
  let other = 0
  for (const element of accept.split(',')) {
    const type = mediaType(element)
    if (type === 'text/html') html = Math.max(html, weightOf(element))
    else if (others.includes(type)) other = Math.max(other, weightOf(element))
  }
  return html > 0 && html >= other
}

/** Returns the `q` weight of an Accept element: 0 to 1. The default is 1. An invalid weight counts as 0. */
export function weightOf(element: string): number {
  const weight = /;\s*q=([^;\s]*)/i.exec(element)?.[1]
  if (weight === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0
}
