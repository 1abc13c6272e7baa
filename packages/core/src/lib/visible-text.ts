/** Matches control characters, format characters and line breaks, which would break a table. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * Escapes invisible characters of untrusted text, so that a terminal displays and does not interpret them.
 */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
