/**
 * Escapes of JSON and URLs that stand for a separator or an accented Latin letter, however often they are decoded.
 * No value and no name of ASCII letters, digits, dots and dashes contains one. An escape with a digit at its end
 * before other digits is left, because these may be a number as written. So is a letter that may begin an IBAN.
 */
const HARMLESS =
  /(?:(?<!\\)\\+(?:["/]|[bfnrt](?![A-Za-z][\s./_-]{0,3}\d\d)|u0(?:0[c-fC-F]|1[0-7])[0-9a-fA-F])|%(?:0[9aAdD]|2[027cCfF]|3[aAdDeEfF]|5[bBdD]|7[bBdD]|[cC][345]%[89abAB][0-9a-fA-F]))(?<!\d(?=[\s.-]{0,3}\d))/g
const URL_ESCAPE = /%[0-9a-fA-F]{2}/
const XML_ESCAPE = /&(?:#|\w{1,8};)/

/**
 * Returns a text with spaces in place of its harmless escapes, or null if it has other escapes. The result
 * then contains every value that the text contains after any decoding. Exceptions: quotes around the local part of an
 * e-mail address, and a plus that means a space.
 */
export function plainReading(text: string): string | null {
  const isEscaped = text.includes('\\') || text.includes('%')
  const plain = isEscaped ? text.replace(HARMLESS, ' ') : text
  if (isEscaped && (plain.includes('\\') || URL_ESCAPE.test(plain))) return null
  if (plain.includes('&') && XML_ESCAPE.test(plain)) return null
  // Text around a CDATA section or a comment belongs together.
  return plain.includes('<!') ? null : plain
}
