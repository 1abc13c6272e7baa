const CHARSET = /\bcharset[*\d \t]*=\s*"?([^",;\s]*)/gi

/**
 * Everything in a content type that may be a charset, in lower case. Readers disagree on which of two parameters counts,
 * and on where a quoted one ends: whoever believes another one than we do would read another document, so all of them
 * have to be acceptable. Takes time linear in the field.
 */
export function charsetsOf(contentType: string): string[] {
  return Array.from(contentType.matchAll(CHARSET), ([, charset]) => charset!.toLowerCase())
}
