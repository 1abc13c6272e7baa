/** Separators that may occur between the groups of a number, by character code. */

const HYPHEN = 45

/** Returns true for whitespace of any script, including line breaks. Equivalent to `\s`. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13)
  if (code >= 0x2000 && code <= 0x200a) return true
  const isRare = code === 0x1680 || code === 0x202f || code === 0x205f || code === 0x3000 || code === 0xfeff
  return code === 0xa0 || code === 0x2028 || code === 0x2029 || isRare
}

/** Returns true for hyphens and dashes, including the ASCII hyphen. */
export function isDash(code: number): boolean {
  return code === HYPHEN || (code >= 0x2010 && code <= 0x2015)
}

/** Returns true for invisible characters: soft hyphens, joiners and zero-width spaces. */
export function isInvisible(code: number): boolean {
  return code === 0xad || (code >= 0x200b && code <= 0x200d) || code === 0x2060 || code === 0xfeff
}
