import type { CharSet, Concatenation, Element, Expression, NoParent } from 'refa'
import { charClass, escapedClass, inverse, libxmlClass, namedClass, union } from './char-classes.js'
import { needsSeparator, PatternWriter, SEPARATOR, UnwritablePattern } from './pattern-text.js'

/** A pattern of XML Schema, as an expression of the library that knows automata. */
export interface ParsedPattern {
  /** The pattern in the words in which libxml2 takes it for what it means. */
  readonly text: string
  readonly expression: NoParent<Expression>
}

/** A pattern that does not follow the grammar, or is too deep to be read. */
export class UnreadablePattern extends Error {}

/** Groups inside one another, for libxml2 as well. */
const MAX_DEPTH = 50
/** What stands after a backslash for one character. */
const SINGLE = /[^a-zA-Z0-9\s]/
const CONTROLS: Readonly<Record<string, number>> = { n: 0xa, r: 0xd, t: 0x9 }
const COUNT = /^\{(\d+)(?:(,)(\d*))?\}$/
/** Of a count, to libxml2. */
const MAX_COUNT = 2 ** 31 - 1

/** Reads a pattern as XML Schema, part 2, appendix F has it. @throws UnreadablePattern */
export function parsePattern(pattern: string): ParsedPattern {
  return new PatternParser(pattern).parse()
}

class PatternParser {
  readonly #letters: readonly string[]
  /** What libxml2 is given: a letter becomes empty where it belongs to what is written otherwise. */
  readonly #texts: string[]
  readonly #writer: PatternWriter
  #at = 0
  #depth = 0
  /** The class that is read has a form or a name that libxml2 takes for something else. */
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
      throw new UnreadablePattern(`has groups nested deeper than ${MAX_DEPTH}; write it with fewer`)
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
    // To libxml2 what is there no time can be there, and what can be empty has to be there.
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
    // To libxml2 `a{2,0}` is `a{2}`.
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

  /** A class: where libxml2 takes it for something else, it is written as what it means. */
  #class(): CharSet {
    const begin = this.#at
    this.#isMisread = false
    const meaning = this.#sees('[') ? this.#group(false) : this.#simple()
    if (this.#isMisread) this.#write(this.#textOf(meaning), begin)
    return meaning
  }

  /** Puts a text in the place of what was read since. */
  #write(text: string, begin: number): void {
    this.#texts.fill('', begin, this.#at)
    this.#texts[begin] = text
  }

  #simple(): CharSet {
    if (this.#sees('\\')) return this.#escape()
    if (this.#take('.')) return escapedClass('.')!
    const letter = this.#next()
    // A brace that counts nothing is a character to libxml2, and to those who write about GUIDs.
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

  /** `[…]`, with what is subtracted from it: to libxml2 that is neither inverse nor has it a subtraction itself. */
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

  /** To libxml2 a hyphen after something else ends what `^` is about, and is none itself before the end. */
  #noteHyphen(isInverse: boolean): void {
    if (isInverse || this.#letters[this.#at + 1] !== ']') this.#isMisread = true
  }

  /** A character, a range of them, or a class that has a name. */
  #part(): CharSet {
    const isEscaped = this.#sees('\\')
    // In brackets it is `\p` to libxml2.
    if (isEscaped && this.#letters[this.#at + 1] === 'P') this.#isMisread = true
    const from = this.#member()
    if (typeof from !== 'number') return from
    const after = this.#letters[this.#at + 1]
    if (!this.#sees('-') || after === ']' || after === '[') return single(from)
    // An escape begins no range to libxml2, so it does not mind what is none.
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
      `is not understood at its character ${this.#at + 1}; write it as XML Schema, part 2, appendix F has it`,
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
