/** What may stand between the groups of a number, by the code of a character. */

const HYPHEN = 45

/** Space of any script, line breaks among it: what `\s` stands for. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13)
  if (code >= 0x2000 && code <= 0x200a) return true
  const isRare = code === 0x1680 || code === 0x202f || code === 0x205f || code === 0x3000 || code === 0xfeff
  return code === 0xa0 || code === 0x2028 || code === 0x2029 || isRare
}

/** Hyphens, dashes, and the one of ASCII that stands for all of them. */
export function isDash(code: number): boolean {
  return code === HYPHEN || (code >= 0x2010 && code <= 0x2015)
}

/** What nobody sees: soft hyphens, joiners, spaces without width. */
export function isInvisible(code: number): boolean {
  return code === 0xad || (code >= 0x200b && code <= 0x200d) || code === 0x2060 || code === 0xfeff
}
