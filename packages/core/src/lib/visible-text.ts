/** Matches control and format characters, and line breaks, which would break a table. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Text from elsewhere, made safe for a terminal: it is shown, never obeyed. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
