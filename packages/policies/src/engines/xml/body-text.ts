/**
 * The text of a document that was parsed from these bytes.
 * @param encoding as the document declares it; null when it says nothing.
 */
export function bodyText(body: Uint8Array, encoding: string | null): string {
  return new TextDecoder(nameOf(body, encoding)).decode(body)
}

function nameOf(body: Uint8Array, encoding: string | null): string {
  // What the bytes say goes before what the declaration says (XML 1.0 appendix F).
  if (body[0] === 0xfe || body[0] === 0) return 'utf-16be'
  if (body[0] === 0xff || body[1] === 0) return 'utf-16le'
  if (body[0] === 0xef || encoding === null) return 'utf-8'
  return encoding
}
