const FOREIGN = /[^A-Za-z0-9_-]/
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Whether text is base64url as RFC 7515 has it: no padding, no white space, and the unused bits of the last character
 * zero. Every byte string has exactly one such text, so that nobody can vary a token without changing what it says.
 */
export function isBase64url(text: string): boolean {
  const rest = text.length % 4
  if (rest === 1 || FOREIGN.test(text)) return false
  if (rest === 0) return true
  const last = ALPHABET.indexOf(text.charAt(text.length - 1))
  return (last & (rest === 2 ? 15 : 3)) === 0
}

/** The bytes of a base64url text; null when it is not one. */
export function decodeBase64url(text: string): Buffer | null {
  return isBase64url(text) ? Buffer.from(text, 'base64url') : null
}
