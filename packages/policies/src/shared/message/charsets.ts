const CHARSET = /\bcharset[*\d \t]*=\s*"?([^",;\s]*)/gi

/**
 * Returns all possible charsets of a content type, in lower case. Parsers disagree on duplicate parameters and on the
 * end of quoted ones. A reader that picks another charset could see another document, so all of them must be
 * acceptable. Takes linear time.
 */
export function charsetsOf(contentType: string): string[] {
  return Array.from(contentType.matchAll(CHARSET), ([, charset]) => charset!.toLowerCase())
}
