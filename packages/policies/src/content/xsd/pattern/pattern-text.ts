import type { CharSet, Concatenation, Element, Expression, NoParent } from 'refa'
import { escapedClass, inverse, libxmlClass, XML_CHARS } from './char-classes.js'

/** Maximum number of ranges to write for one class. */
const MAX_RANGES = 2000

/**
 * Separator after a repeated group at the end of an alternative. Without it, libxml2 lets the group begin
 * wherever that end is reached: it matches `bc` with `a(c)*|b` and `c` with `(a(c)*)*`.
 */
export const SEPARATOR = '()'

/** An empty class. It matches nothing. */
const NOTHING = '[a-[a]]'

/** Returns true if an alternative ends with a repeated group. */
export function needsSeparator(alternative: string): boolean {
  return /\)[*+]$/.test(alternative)
}

/** Error for an expression that has a class with too many ranges. */
export class UnwritablePattern extends Error {}

/**
 * Writes expressions as XML Schema patterns that libxml2 interprets correctly. libxml2 compares inverse
 * classes (`[^a]`, `\\D` outside brackets) wrongly when it searches for possible matches.
 */
export class PatternWriter {
  /** Named classes that may give a shorter text. */
  readonly #named: readonly NamedSet[]
  readonly #known = new Map<string, string>()

  /** @param pattern original pattern, whose named classes are reused. */
  constructor(pattern: string) {
    const names = pattern.match(/\\[sSdDwWiIcC]|\\[pP]\{[^}]*\}/g) ?? []
    this.#named = [...new Set(names.flatMap(withInverse))].flatMap(namedSet)
  }

  /** Writes an expression. @throws UnwritablePattern */
  text({ alternatives }: NoParent<Expression>): string {
    return this.#choice(alternatives)
  }

  #choice(alternatives: readonly NoParent<Concatenation>[]): string {
    // No alternatives match nothing, but an empty text would match the empty value.
    if (alternatives.length === 0) return NOTHING
    return alternatives
      .map(({ elements }) => elements.map((element) => this.#element(element)).join(''))
      .map((text) => (needsSeparator(text) ? text + SEPARATOR : text))
      .join('|')
  }

  #element(element: NoParent<Element>): string {
    if (element.type === 'CharacterClass') return this.classText(element.characters)
    if (element.type === 'Alternation') return `(${this.#choice(element.alternatives)})`
    if (element.type !== 'Quantifier') throw new Error(`unexpected pattern element ${element.type}`)
    return repeated(this.#body(element.alternatives), element.min, element.max)
  }

  #body(alternatives: readonly NoParent<Concatenation>[]): string {
    const [only, ...others] = alternatives
    const isOne = others.length === 0 && only?.elements.length === 1
    return isOne && only.elements[0]!.type !== 'Quantifier'
      ? this.#element(only.elements[0]!)
      : `(${this.#choice(alternatives)})`
  }

  /** Writes a class. @throws UnwritablePattern */
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
    if (shortest === undefined) throw new UnwritablePattern('has character classes with too many ranges')
    return shortest
  }

  /**
   * Writes a class as the complement of the other characters. Fewer ranges are faster, because libxml2 scans
   * all ranges for each character.
   */
  #inverseText(characters: CharSet): string | null {
    const others = this.#sumText(inverse(characters))
    return others === null ? null : `[${rangesText(XML_CHARS)}-${others}]`
  }

  /** Writes a class as the named classes that it contains, plus the remaining ranges. */
  #sumText(characters: CharSet): string | null {
    const inside = this.#named.filter(({ set }) => set.isSubsetOf(characters))
    const named = inside.filter(({ set }) => !inside.some((other) => set.isProperSubsetOf(other.set)))
    const rest = named.reduce((all, { set }) => all.without(set), characters)
    if (rest.ranges.length > MAX_RANGES) return null
    return `[${named.map(({ text }) => text).join('')}${rangesText(rest)}]`
  }
}

/** Returns the named class with its inverse. In brackets, libxml2 reads `\P{L}` as `\p{L}`. */
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

/** Writes a class as a named one, minus some characters and plus others. */
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

/**
 * Writes a range. In libxml2, a range cannot begin with an escape, so escaped characters are written
 * separately.
 */
function rangeText(min: number, max: number): string {
  if (min > max) return ''
  const [first, last] = [letterText(min), letterText(max)]
  if (min === max) return first
  if (first.startsWith('\\')) return first + rangeText(min + 1, max)
  if (last.startsWith('\\')) return rangeText(min, max - 1) + last
  return max === min + 1 ? first + last : `${first}-${last}`
}

/** Escapes of white space, which XML attributes would not preserve. */
const ESCAPED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function letterText(codePoint: number): string {
  const letter = String.fromCodePoint(codePoint)
  return ESCAPED[letter] ?? (/[\\|.?*+(){}[\]^-]/.test(letter) ? `\\${letter}` : letter)
}

/**
 * Writes a repetition without counts in braces. libxml2 confuses `b` and `b{2}` if both lead to the same
 * position. `a(xx?)?` has one match path where `ax?x?` has two.
 */
function repeated(text: string, min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? `${text}*` : `${text.repeat(min)}+`
  const [first, ...others] = Array<string>(max - min).fill(text)
  if (first === undefined) return text.repeat(min)
  return text.repeat(min) + others.reduce((rest) => `(${text}${rest})?`, `${first}?`)
}
