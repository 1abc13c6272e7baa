import { CharSet } from 'refa'
import { blockRanges } from './blocks.js'
import { categoryRanges, nameRanges } from './categories.js'

/** Highest code point. */
export const MAX_CHAR = 0x10ffff

/** Characters allowed in XML documents. */
export const XML_CHARS = ranges([0x9, 0xa], [0xd, 0xd], [0x20, 0xd7ff], [0xe000, 0xfffd], [0x10000, MAX_CHAR])

/** Returns the characters of these ranges that XML allows. */
export function charClass(...pairs: readonly (readonly [from: number, to: number])[]): CharSet {
  return ranges(...pairs).intersect(XML_CHARS)
}

/** Returns all XML characters except these. */
export function inverse(characters: CharSet): CharSet {
  return XML_CHARS.without(characters)
}

/** Returns the union of character classes. */
export function union(classes: readonly CharSet[]): CharSet {
  return CharSet.empty(MAX_CHAR).union(...classes)
}

/** Character classes of `.` and of escapes such as `\s`. */
const ESCAPED: Readonly<Record<string, () => CharSet>> = {
  '.': () => inverse(charClass([0xa, 0xa], [0xd, 0xd])),
  s: () => charClass([0x9, 0xa], [0xd, 0xd], [0x20, 0x20]),
  d: () => unicode('Nd'),
  // As in libxml2 and in the specification: everything except punctuation, separators and others.
  w: () => inverse(union([unicode('P'), unicode('Z'), unicode('C')])),
  i: () => NAME_START,
  c: () => NAME_CHARS,
}

const NAME_START = charClass(...nameRanges('start'))
const NAME_CHARS = charClass(...nameRanges('start'), ...nameRanges('more'))

/** Returns the class of an escape such as `\d`, or null for an unknown letter. */
export function escapedClass(letter: string): CharSet | null {
  const known = ESCAPED[letter]
  if (known !== undefined) return known()
  const small = letter.toLowerCase()
  return small !== letter && small in ESCAPED ? inverse(ESCAPED[small]!()) : null
}

const CATEGORY = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/

/** Returns the class of `\p{…}`, or null for an unknown name. */
export function namedClass(name: string): CharSet | null {
  if (CATEGORY.test(name)) return unicode(name)
  const block = name.startsWith('Is') ? blockRanges(name.slice(2)) : undefined
  return block === undefined ? null : charClass(...block)
}

/** Returns the class of `\p{…}` as libxml2 defines it. */
export function libxmlClass(name: string): CharSet | null {
  return CATEGORY.test(name) ? charClass(...categoryRanges(name)) : namedClass(name)
}

/**
 * Characters missing in the tables of libxml2: newer currency signs, and ideographs. The Unicode data list only
 * the first and last ideograph of each range.
 */
const BEYOND: Readonly<Record<string, readonly (readonly [from: number, to: number])[]>> = {
  Lo: [
    [0x3400, 0x4dbf],
    [0x4e00, 0x9fff],
    [0xac00, 0xd7a3],
    [0x20000, 0x2a6df],
    [0x2a700, 0x2b739],
    [0x2b740, 0x2b81d],
    [0x2b820, 0x2cea1],
    [0x2ceb0, 0x2ebe0],
    [0x30000, 0x3134a],
    [0x31350, 0x323af],
  ],
  Lu: [[0x1e9e, 0x1e9e]],
  Sc: [[0x20b2, 0x20c0]],
}

const known = new Map<string, CharSet>()

function unicode(category: string): CharSet {
  let found = known.get(category)
  if (found === undefined) {
    const beyond = Object.keys(BEYOND).filter((name) => name.startsWith(category))
    found = charClass(...categoryRanges(category), ...beyond.flatMap((name) => BEYOND[name]!))
    known.set(category, found)
  }
  return found
}

function ranges(...pairs: readonly (readonly [from: number, to: number])[]): CharSet {
  return CharSet.empty(MAX_CHAR).union(pairs.map(([min, max]) => ({ min, max })))
}
