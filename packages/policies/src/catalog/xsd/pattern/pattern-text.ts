import type { CharSet, Concatenation, Element, Expression, NoParent } from 'refa'
import { escapedClass, inverse, libxmlClass, XML_CHARS } from './char-classes.js'

/** Most ranges that are written out of one class. */
const MAX_RANGES = 2000

/**
 * Stands after a repeated group at the end of an alternative: libxml2 lets the group begin wherever that end is
 * reached, and takes `bc` for `a(c)*|b` and `c` for `(a(c)*)*`, in more ways than there are.
 */
export const SEPARATOR = '()'

/** A class without characters: it matches nothing, and nothing behind it is tried. */
const NOTHING = '[a-[a]]'

/** An alternative ends with a repeated group. */
export function needsSeparator(alternative: string): boolean {
  return /\)[*+]$/.test(alternative)
}

/** An expression has a class that takes too many words. */
export class UnwritablePattern extends Error {}

/**
 * Writes expressions as patterns of XML Schema, in the words that libxml2 understands: it compares inverse classes
 * (`[^a]`, `\\D` without brackets) wrongly when it looks for what it has to try.
 */
export class PatternWriter {
  /** Classes that have a name, of which another may be said in fewer words. */
  readonly #named: readonly NamedSet[]
  readonly #known = new Map<string, string>()

  /** @param pattern whose names of classes are to be used again. */
  constructor(pattern: string) {
    const names = pattern.match(/\\[sSdDwWiIcC]|\\[pP]\{[^}]*\}/g) ?? []
    this.#named = [...new Set(names.flatMap(withInverse))].flatMap(namedSet)
  }

  /** @throws UnwritablePattern */
  text({ alternatives }: NoParent<Expression>): string {
    return this.#choice(alternatives)
  }

  #choice(alternatives: readonly NoParent<Concatenation>[]): string {
    // Of no alternatives at all none matches; of an empty text the empty value would.
    if (alternatives.length === 0) return NOTHING
    return alternatives
      .map(({ elements }) => elements.map((element) => this.#element(element)).join(''))
      .map((text) => (needsSeparator(text) ? text + SEPARATOR : text))
      .join('|')
  }

  #element(element: NoParent<Element>): string {
    if (element.type === 'CharacterClass') return this.classText(element.characters)
    if (element.type === 'Alternation') return `(${this.#choice(element.alternatives)})`
    if (element.type !== 'Quantifier') throw new Error(`no pattern has ${element.type}`)
    return repeated(this.#body(element.alternatives), element.min, element.max)
  }

  #body(alternatives: readonly NoParent<Concatenation>[]): string {
    const [only, ...others] = alternatives
    const isOne = others.length === 0 && only?.elements.length === 1
    return isOne && only.elements[0]!.type !== 'Quantifier'
      ? this.#element(only.elements[0]!)
      : `(${this.#choice(alternatives)})`
  }

  /** One class. @throws UnwritablePattern */
  classText(characters: CharSet): string {
    const key = characters.toRangesString()
    const text = this.#known.get(key) ?? this.#newClassText(characters)
    this.#known.set(key, text)
    return text
  }

  #newClassText(characters: CharSet): string {
    if (characters.isEmpty) return NOTHING
    const [range] = characters.ranges
    if (characters.size === 1) return letterText(range!.min)
    const texts = [
      bracketed(characters),
      this.#sumText(characters),
      this.#inverseText(characters),
      ...this.#named.map(textBy(characters)),
    ]
    const [shortest] = texts
      .filter((text) => text !== null)
      .sort((first, second) => first.length - second.length)
    if (shortest === undefined) throw new UnwritablePattern('has classes that cannot be written otherwise')
    return shortest
  }

  /** All but what it has not: libxml2 goes over every range of a class for each character. */
  #inverseText(characters: CharSet): string | null {
    const others = this.#sumText(inverse(characters))
    return others === null ? null : `[${rangesText(XML_CHARS)}-${others}]`
  }

  /** The named classes in it, and what else there is. */
  #sumText(characters: CharSet): string | null {
    const inside = this.#named.filter(({ set }) => set.isSubsetOf(characters))
    const named = inside.filter(({ set }) => !inside.some((other) => set.isProperSubsetOf(other.set)))
    const rest = named.reduce((all, { set }) => all.without(set), characters)
    if (rest.ranges.length > MAX_RANGES) return null
    return `[${named.map(({ text }) => text).join('')}${rangesText(rest)}]`
  }
}

/** In brackets libxml2 takes `\P{L}` for `\p{L}`. */
function withInverse(name: string): readonly string[] {
  return name.length > 2 ? [`\\p${name.slice(2)}`] : [name.toLowerCase(), name.toUpperCase()]
}

interface NamedSet {
  readonly text: string
  readonly set: CharSet
}

function namedSet(text: string): readonly NamedSet[] {
  const isNamed = text.length > 2
  const found = isNamed ? libxmlClass(text.slice(3, -1)) : escapedClass(text[1]!)
  return found === null ? [] : [{ text, set: found }]
}

/** A class as a named one without some characters, and with others. */
function textBy(characters: CharSet): (named: NamedSet) => string | null {
  return ({ text, set }) => {
    const more = characters.without(set)
    const without = bracketed(set.without(characters))
    if (without === null || more.ranges.length > MAX_RANGES) return null
    return `[${text}${rangesText(more)}-${without}]`
  }
}

function bracketed(characters: CharSet): string | null {
  if (characters.isEmpty || characters.ranges.length > MAX_RANGES) return null
  return `[${rangesText(characters)}]`
}

function rangesText({ ranges }: CharSet): string {
  return ranges.map(({ min, max }) => rangeText(min, max)).join('')
}

/** To libxml2 a range does not begin with what has to be escaped: that stands for itself. */
function rangeText(min: number, max: number): string {
  if (min > max) return ''
  const [first, last] = [letterText(min), letterText(max)]
  if (min === max) return first
  if (first.startsWith('\\')) return first + rangeText(min + 1, max)
  if (last.startsWith('\\')) return rangeText(min, max - 1) + last
  return max === min + 1 ? first + last : `${first}-${last}`
}

/** White space is written as attributes of XML keep it. */
const ESCAPED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function letterText(codePoint: number): string {
  const letter = String.fromCodePoint(codePoint)
  return ESCAPED[letter] ?? (/[\\|.?*+(){}[\]^-]/.test(letter) ? `\\${letter}` : letter)
}

/**
 * Without counts in braces: libxml2 takes `b` and `b{2}` for the same where both lead to one position, and `a(xx?)?` has one
 * way to match where `ax?x?` has two.
 */
function repeated(text: string, min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? `${text}*` : `${text.repeat(min)}+`
  const [first, ...others] = Array<string>(max - min).fill(text)
  if (first === undefined) return text.repeat(min)
  return text.repeat(min) + others.reduce((rest) => `(${text}${rest})?`, `${first}?`)
}
