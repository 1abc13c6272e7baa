/**
 * Decodes the text of a parsed document.
 * @param encoding encoding that the document declares, or null.
 */
export function bodyText(body: Uint8Array, encoding: string | null): string {
  return new TextDecoder(nameOf(body, encoding)).decode(body)
}

function nameOf(body: Uint8Array, encoding: string | null): string {
  // The bytes take precedence over the declaration (XML 1.0 appendix F).
  if (body[0] === 0xfe || body[0] === 0) return 'utf-16be'
  if (body[0] === 0xff || body[1] === 0) return 'utf-16le'
  if (body[0] === 0xef || encoding === null) return 'utf-8'
  return encoding
}
