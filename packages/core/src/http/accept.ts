import { mediaType } from './media-type.js'

/**
 * Whether an Accept field names HTML and nothing of `others` that it would rather have (RFC 9110 section 12.5.1). Browsers
 * name it; programs that take everything (any media type) do not, and would not read a page.
 * @param accept null: there is no such field.
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

/** The `q` of an element of an Accept field: 0 to 1; 1 where none is given, 0 where it is no number. */
export function weightOf(element: string): number {
  const weight = /;\s*q=([^;\s]*)/i.exec(element)?.[1]
  if (weight === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0
}
