/** Matches an escape sequence of URLs, JSON or XML. A reader of the text may decode any of them. */
const ESCAPE = /%([0-9a-f]{2})|\\u([0-9a-f]{4})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(nbsp|amp|commat|plus);/iy
const BEGINNING = /%(?=[0-9a-fA-F])|\\(?=[uU])|&(?=[#nacpNACP])/g
const NAMED: Readonly<Record<string, string>> = { nbsp: '\u00a0', amp: '&', commat: '@', plus: '+' }

/**
 * Maps positions in an unescaped text to positions in the original. From each entry in `positions` up to the
 * next, positions continue from the entry in `origins`:
 *
 *     a%34b   original      positions  0  1  2
 *     a4b     unescaped     origins    0  1  4
 */
export interface Origins {
  readonly positions: readonly number[]
  readonly origins: readonly number[]
}

/** Returns the original position of a character, or of the end of the text. */
export function originOf({ positions, origins }: Origins, at: number): number {
  let low = 0
  let high = positions.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (positions[middle]! <= at) low = middle
    else high = middle - 1
  }
  return origins[low]! + at - positions[low]!
}

/** Decodes one layer of escapes, or returns null for text without escapes. */
export function withoutEscapes(text: string): { readonly text: string; readonly origins: Origins } | null {
  if (!text.includes('%') && !text.includes('\\') && !text.includes('&')) return null
  BEGINNING.lastIndex = 0
  if (!BEGINNING.test(text)) return null
  const positions = [0]
  const origins = [0]
  let plain = ''
  let at = 0
  BEGINNING.lastIndex = 0
  while (BEGINNING.test(text)) {
    const start = BEGINNING.lastIndex - 1
    ESCAPE.lastIndex = start
    const match = ESCAPE.exec(text)
    if (match === null) continue
    plain += text.slice(at, start)
    const meant = meaning(match)
    for (let i = 0; i < meant.length; i++) {
      positions.push(plain.length + i)
      origins.push(start)
    }
    plain += meant
    at = ESCAPE.lastIndex
    positions.push(plain.length)
    origins.push(at)
    BEGINNING.lastIndex = at
  }
  return at === 0 ? null : { text: plain + text.slice(at), origins: { positions, origins } }
}

function meaning([all, percent, unit, hex, decimal, name]: RegExpExecArray): string {
  if (name !== undefined) return NAMED[name.toLowerCase()]!
  const code = decimal === undefined ? Number.parseInt((percent ?? unit ?? hex)!, 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : all
}
