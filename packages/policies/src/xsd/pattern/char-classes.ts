import { CharSet } from 'refa'
import { categoryRanges } from './categories.js'

/** The greatest code point. */
export const MAX_CHAR = 0x10ffff

/**
 * The characters of a class, between two bounds: those it surely has, and those it may have. They differ where libxml2
 * has tables that are not here, of blocks and of the names of XML 1.0 before its fifth edition.
 */
export interface CharClass {
  readonly least: CharSet
  readonly most: CharSet
}

/** All that can stand in a document. */
const XML_CHARS = ranges([0x9, 0xa], [0xd, 0xd], [0x20, 0xd7ff], [0xe000, 0xfffd], [0x10000, MAX_CHAR])
const NOTHING = CharSet.empty(MAX_CHAR)
/** May have any character, or none. */
export const UNKNOWN: CharClass = { least: NOTHING, most: XML_CHARS }

/** The characters of these ranges that can stand in a document. */
export function charClass(...pairs: readonly (readonly [from: number, to: number])[]): CharClass {
  return exactly(ranges(...pairs))
}

/** All but these. */
export function inverse({ least, most }: CharClass): CharClass {
  return { least: XML_CHARS.without(most), most: XML_CHARS.without(least) }
}

/** What is in one of the classes. */
export function union(classes: readonly CharClass[]): CharClass {
  return {
    least: NOTHING.union(...classes.map(({ least }) => least)),
    most: NOTHING.union(...classes.map(({ most }) => most)),
  }
}

/** What is in a class and not in the other. */
export function difference(all: CharClass, without: CharClass): CharClass {
  return { least: all.least.without(without.most), most: all.most.without(without.least) }
}

/** `.` and what a backslash and a letter stand for, where that is more than one character. */
const ESCAPED: Readonly<Record<string, () => CharClass>> = {
  '.': () => inverse(charClass([0xa, 0xa], [0xd, 0xd])),
  s: () => charClass([0x9, 0xa], [0xd, 0xd], [0x20, 0x20]),
  d: () => unicode('Nd'),
  // As libxml2 has it, and the specification: all but punctuation, separators and others.
  w: () => inverse(union([unicode('P'), unicode('Z'), unicode('C')])),
  i: () => ({ least: ranges(...NAME_START), most: ranges(...NAME_START, ...NAME_START_BEYOND) }),
  c: () => ({
    least: ranges(...NAME_START, ...NAME_MORE),
    most: ranges(...NAME_START, ...NAME_MORE, ...NAME_START_BEYOND, ...NAME_MORE_BEYOND),
  }),
}

/** The beginning of a name in ASCII, where all editions of XML agree, and what the fifth allows beyond. */
const NAME_START = [
  [0x3a, 0x3a],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const
const NAME_START_BEYOND = [
  [0xc0, 0xd6],
  [0xd8, 0xf6],
  [0xf8, 0x2ff],
  [0x370, 0x37d],
  [0x37f, 0x1fff],
  [0x200c, 0x200d],
  [0x2070, 0x218f],
  [0x2c00, 0x2fef],
  [0x3001, 0xd7ff],
  [0xf900, 0xfdcf],
  [0xfdf0, 0xfffd],
  [0x10000, 0xeffff],
] as const
const NAME_MORE = [
  [0x2d, 0x2e],
  [0x30, 0x39],
] as const
const NAME_MORE_BEYOND = [
  [0xb7, 0xb7],
  [0x300, 0x36f],
  [0x203f, 0x2040],
] as const

/** The class that `\d` and the like stand for; null for another letter. */
export function escapedClass(letter: string): CharClass | null {
  const known = ESCAPED[letter]
  if (known !== undefined) return known()
  const small = letter.toLowerCase()
  return small !== letter && small in ESCAPED ? inverse(ESCAPED[small]!()) : null
}

const CATEGORY = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/
const BLOCK = /^Is[-a-zA-Z0-9]+$/

/** Blocks that schemas name, of those whose bounds never changed. */
const BLOCKS: Readonly<Record<string, readonly [number, number]>> = {
  IsBasicLatin: [0, 0x7f],
  'IsLatin-1Supplement': [0x80, 0xff],
  'IsLatinExtended-A': [0x100, 0x17f],
  'IsLatinExtended-B': [0x180, 0x24f],
}

/** The class that `\p{…}` stands for; null for a name that is none. */
export function namedClass(name: string): CharClass | null {
  if (CATEGORY.test(name)) return unicode(name)
  if (!BLOCK.test(name)) return null
  const block = BLOCKS[name]
  return block === undefined ? UNKNOWN : charClass(block)
}

const known = new Map<string, CharClass>()

function unicode(category: string): CharClass {
  let found = known.get(category)
  if (found === undefined) {
    found = charClass(...categoryRanges(category))
    known.set(category, found)
  }
  return found
}

function exactly(set: CharSet): CharClass {
  const chars = set.intersect(XML_CHARS)
  return { least: chars, most: chars }
}

function ranges(...pairs: readonly (readonly [from: number, to: number])[]): CharSet {
  return CharSet.empty(MAX_CHAR).union(pairs.map(([min, max]) => ({ min, max })))
}
