import type { CharSet, Concatenation, Element, Expression, NoParent } from 'refa'
import { charClass, escapedClass, inverse, libxmlClass, namedClass, union } from './char-classes.js'
import { needsSeparator, PatternWriter, SEPARATOR, UnwritablePattern } from './pattern-text.js'

/** A parsed pattern of XML Schema. */
export interface ParsedPattern {
  /** The pattern in a form that libxml2 interprets correctly. */
  readonly text: string
  readonly expression: NoParent<Expression>
}

/** A pattern with invalid syntax or too deep nesting. */
export class UnreadablePattern extends Error {}

/** Maximum nesting of groups, also for libxml2. */
const MAX_DEPTH = 50
/** Matches characters that a backslash escapes to themselves. */
const SINGLE = /[^a-zA-Z0-9\s]/
const CONTROLS: Readonly<Record<string, number>> = { n: 0xa, r: 0xd, t: 0x9 }
const COUNT = /^\{(\d+)(?:(,)(\d*))?\}$/
/** Maximum count in libxml2. */
const MAX_COUNT = 2 ** 31 - 1

/** Parses a pattern (XML Schema part 2, appendix F). @throws UnreadablePattern */
export function parsePattern(pattern: string): ParsedPattern {
  return new PatternParser(pattern).parse()
}

class PatternParser {
  readonly #letters: readonly string[]
  /**
   * Output for libxml2, one entry per character. Entries are empty for characters covered by a rewritten
   * text.
   */
  readonly #texts: string[]
  readonly #writer: PatternWriter
  #at = 0
  #depth = 0
  /** True if libxml2 misreads the class being parsed. */
  #isMisread = false

  constructor(pattern: string) {
    this.#letters = Array.from(pattern)
    this.#texts = [...this.#letters]
    this.#writer = new PatternWriter(pattern)
  }

  parse(): ParsedPattern {
    const alternatives = this.#alternatives()
    if (this.#at < this.#letters.length) throw this.#unreadable()
    return { text: this.#texts.join(''), expression: { type: 'Expression', alternatives } }
  }

  #alternatives(): NoParent<Concatenation>[] {
    if (++this.#depth > MAX_DEPTH)
      throw new UnreadablePattern(`has groups nested deeper than ${MAX_DEPTH}: use fewer`)
    const all = [this.#branch()]
    while (this.#take('|')) all.push(this.#branch())
    this.#depth--
    return all
  }

  #branch(): NoParent<Concatenation> {
    const elements: NoParent<Element>[] = []
    while (this.#at < this.#letters.length && !this.#sees('|') && !this.#sees(')'))
      elements.push(this.#piece())
    const isLast = this.#at === this.#letters.length
    if (!isLast && needsSeparator(this.#letters.slice(Math.max(0, this.#at - 2), this.#at).join(''))) {
      this.#texts[this.#at] = SEPARATOR + this.#texts[this.#at]!
    }
    return { type: 'Concatenation', elements }
  }

  #piece(): NoParent<Element> {
    const begin = this.#at
    const atom = this.#atom()
    const end = this.#at
    const isCounted = this.#sees('{')
    const bounds = this.#bounds()
    if (bounds === null) return atom
    // libxml2 requires what may be empty, and allows what has a count of zero.
    if (bounds.max === 0) this.#write('()', begin)
    else if (isCounted && bounds.min > 0 && canBeEmpty(atom)) {
      this.#write(Number.isFinite(bounds.max) ? `{0,${bounds.max}}` : '{0,}', end)
    }
    const alternatives: NoParent<Concatenation>[] =
      atom.type === 'Alternation' ? atom.alternatives : [{ type: 'Concatenation', elements: [atom] }]
    return { type: 'Quantifier', alternatives, lazy: false, ...bounds }
  }

  #bounds(): { readonly min: number; readonly max: number } | null {
    if (this.#take('?')) return { min: 0, max: 1 }
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (!this.#sees('{')) return null
    const end = this.#letters.indexOf('}', this.#at) + 1
    const found = COUNT.exec(this.#letters.slice(this.#at, end).join(''))
    if (found === null) throw this.#unreadable()
    const [, least, comma, most] = found
    const min = Number(least)
    // libxml2 reads `a{2,0}` as `a{2}`.
    const max = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most) || min
    if (max < min || min > MAX_COUNT || Number(most) > MAX_COUNT) throw this.#unreadable()
    this.#at = end
    return { min, max }
  }

  #atom(): NoParent<Element> {
    if (this.#take('(')) {
      const alternatives = this.#alternatives()
      if (!this.#take(')')) throw this.#unreadable()
      return { type: 'Alternation', alternatives }
    }
    return { type: 'CharacterClass', characters: this.#class() }
  }

  /** Parses a class, and rewrites it if libxml2 misreads it. */
  #class(): CharSet {
    const begin = this.#at
    this.#isMisread = false
    const meaning = this.#sees('[') ? this.#group(false) : this.#simple()
    if (this.#isMisread) this.#write(this.#textOf(meaning), begin)
    return meaning
  }

  /** Replaces the text parsed since `begin`. */
  #write(text: string, begin: number): void {
    this.#texts.fill('', begin, this.#at)
    this.#texts[begin] = text
  }

  #simple(): CharSet {
    if (this.#sees('\\')) return this.#escape()
    if (this.#take('.')) return escapedClass('.')!
    const letter = this.#next()
    // A brace that is not a count is a literal character in libxml2, and in patterns for GUIDs.
    if ('?*+()|]'.includes(letter)) throw this.#unreadable()
    return single(letter.codePointAt(0)!)
  }

  #textOf(meaning: CharSet): string {
    try {
      return this.#writer.classText(meaning)
    } catch (problem) {
      if (!(problem instanceof UnwritablePattern)) throw problem
      throw new UnreadablePattern(problem.message, { cause: problem })
    }
  }

  /**
   * Parses `[…]` with a subtraction. In libxml2, the subtracted class must not be inverse or have a
   * subtraction itself.
   */
  #group(isSubtracted: boolean): CharSet {
    if (!this.#take('[') || ++this.#depth > MAX_DEPTH) throw this.#unreadable()
    const isInverse = this.#take('^')
    if (isInverse && isSubtracted) this.#isMisread = true
    const parts: CharSet[] = []
    let without: CharSet | null = null
    do {
      if (parts.length > 0 && this.#sees('-') && this.#letters[this.#at + 1] === '[') {
        this.#at++
        if (isSubtracted) this.#isMisread = true
        without = this.#group(true)
        break
      }
      if (parts.length > 0 && this.#sees('-')) this.#noteHyphen(isInverse)
      parts.push(this.#part())
    } while (!this.#sees(']'))
    if (!this.#take(']')) throw this.#unreadable()
    this.#depth--
    const all = isInverse ? inverse(union(parts)) : union(parts)
    return without === null ? all : all.without(without)
  }

  /**
   * Notes a misread hyphen. In libxml2, a hyphen after another item ends the scope of `^`, and is not a
   * literal before the end.
   */
  #noteHyphen(isInverse: boolean): void {
    if (isInverse || this.#letters[this.#at + 1] !== ']') this.#isMisread = true
  }

  /** Parses a character, a range or a named class. */
  #part(): CharSet {
    const isEscaped = this.#sees('\\')
    // In brackets, libxml2 reads `\P` as `\p`.
    if (isEscaped && this.#letters[this.#at + 1] === 'P') this.#isMisread = true
    const from = this.#member()
    if (typeof from !== 'number') return from
    const after = this.#letters[this.#at + 1]
    if (!this.#sees('-') || after === ']' || after === '[') return single(from)
    // libxml2 never begins a range with an escape, so this is not an error.
    if (isEscaped && after === '-' && this.#letters[this.#at + 2] === '[') return single(from)
    this.#at++
    if (isEscaped) this.#isMisread = true
    const to = this.#member()
    if (typeof to === 'number' && to >= from) return charClass([from, to])
    throw this.#unreadable()
  }

  #member(): CharSet | number {
    if (this.#sees('\\')) {
      const escaped = this.#escape()
      return escaped.size === 1 ? escaped.ranges[0]!.min : escaped
    }
    const letter = this.#next()
    if (letter === '[' || letter === ']') throw this.#unreadable()
    return letter.codePointAt(0)!
  }

  #escape(): CharSet {
    this.#at++
    const letter = this.#next()
    const control = CONTROLS[letter]
    if (control !== undefined) return single(control)
    if (SINGLE.test(letter)) return single(letter.codePointAt(0)!)
    const known = letter === 'p' || letter === 'P' ? this.#named() : escapedClass(letter)
    if (known === null) throw this.#unreadable()
    return letter === 'P' ? inverse(known) : known
  }

  #named(): CharSet | null {
    const end = this.#letters.indexOf('}', this.#at)
    if (!this.#take('{') || end < 0) throw this.#unreadable()
    const name = this.#letters.slice(this.#at, end).join('')
    this.#at = end + 1
    const named = namedClass(name)
    if (named !== null && !named.equals(libxmlClass(name)!)) this.#isMisread = true
    return named
  }

  #sees(letter: string): boolean {
    return this.#letters[this.#at] === letter
  }

  #take(letter: string): boolean {
    if (!this.#sees(letter)) return false
    this.#at++
    return true
  }

  #next(): string {
    const letter = this.#letters[this.#at++]
    if (letter === undefined) throw this.#unreadable()
    return letter
  }

  #unreadable(): UnreadablePattern {
    return new UnreadablePattern(
      `has a syntax error at character ${this.#at + 1}: see XML Schema part 2, appendix F`,
    )
  }
}

function canBeEmpty(element: NoParent<Element>): boolean {
  if (element.type === 'CharacterClass') return false
  if (element.type === 'Quantifier' && element.min === 0) return true
  if (element.type !== 'Quantifier' && element.type !== 'Alternation') return false
  return element.alternatives.some(({ elements }) => elements.every(canBeEmpty))
}

function single(codePoint: number): CharSet {
  return charClass([codePoint, codePoint])
}
