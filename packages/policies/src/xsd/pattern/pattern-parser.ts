import type { Concatenation, Element, Expression, NoParent } from 'refa'
import {
  type CharClass,
  charClass,
  difference,
  escapedClass,
  inverse,
  namedClass,
  union,
} from './char-classes.js'
import { needsSeparator, SEPARATOR } from './pattern-text.js'

/** A pattern of XML Schema, as an expression of the library that knows automata. */
export interface ParsedPattern {
  /** The pattern as libxml2 understands it. */
  readonly text: string
  /** With the most characters that its classes may have. */
  readonly expression: NoParent<Expression>
  /** Those are the characters that they have. */
  readonly isExact: boolean
}

/** A pattern that does not follow the grammar, or is too deep to be read. */
export class UnreadablePattern extends Error {}

/** Groups inside one another, for libxml2 as well. */
const MAX_DEPTH = 50
/** What stands behind a backslash for one character. */
const SINGLE = /[^a-zA-Z0-9\s]/
const CONTROLS: Readonly<Record<string, number>> = { n: 0xa, r: 0xd, t: 0x9 }
const COUNT = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y

/** Reads a pattern as XML Schema, part 2, appendix F has it. @throws UnreadablePattern */
export function parsePattern(pattern: string): ParsedPattern {
  return new PatternParser(pattern).parse()
}

class PatternParser {
  readonly #letters: readonly string[]
  /** Before which places libxml2 needs a separator. */
  readonly #separated = new Set<number>()
  #at = 0
  #depth = 0
  #isExact = true

  constructor(pattern: string) {
    this.#letters = Array.from(pattern)
  }

  parse(): ParsedPattern {
    const alternatives = this.#alternatives()
    if (this.#at < this.#letters.length) throw this.#unreadable()
    const text = this.#letters
      .map((letter, i) => (this.#separated.has(i) ? SEPARATOR + letter : letter))
      .join('')
    return { text, expression: { type: 'Expression', alternatives }, isExact: this.#isExact }
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
    if (needsSeparator(this.#letters.slice(Math.max(0, this.#at - 2), this.#at).join(''))) {
      this.#separated.add(this.#at)
    }
    return { type: 'Concatenation', elements }
  }

  #piece(): NoParent<Element> {
    const atom = this.#atom()
    const bounds = this.#bounds()
    if (bounds === null) return atom
    const alternatives: NoParent<Concatenation>[] =
      atom.type === 'Alternation' ? atom.alternatives : [{ type: 'Concatenation', elements: [atom] }]
    return { type: 'Quantifier', alternatives, lazy: false, ...bounds }
  }

  #bounds(): { readonly min: number; readonly max: number } | null {
    if (this.#take('?')) return { min: 0, max: 1 }
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (!this.#sees('{')) return null
    COUNT.lastIndex = 0
    const found = COUNT.exec(this.#letters.slice(this.#at, this.#at + 22).join(''))
    if (found === null) throw this.#unreadable()
    this.#at += found[0].length
    const [, least, comma, most] = found
    const min = Number(least)
    const max = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most)
    if (max < min) throw this.#unreadable()
    return { min, max }
  }

  #atom(): NoParent<Element> {
    if (this.#take('(')) {
      const alternatives = this.#alternatives()
      if (!this.#take(')')) throw this.#unreadable()
      return { type: 'Alternation', alternatives }
    }
    const { least, most } = this.#sees('[') ? this.#group() : this.#simple()
    if (!least.equals(most)) this.#isExact = false
    return { type: 'CharacterClass', characters: most }
  }

  #simple(): CharClass {
    if (this.#sees('\\')) return this.#escape()
    if (this.#take('.')) return escapedClass('.')!
    const letter = this.#next()
    if ('?*+()|]{}'.includes(letter)) throw this.#unreadable()
    return single(letter.codePointAt(0)!)
  }

  /** `[…]`, with what is subtracted from it. */
  #group(): CharClass {
    if (!this.#take('[') || ++this.#depth > MAX_DEPTH) throw this.#unreadable()
    const isInverse = this.#take('^')
    const parts: CharClass[] = []
    let without: CharClass | null = null
    do {
      if (parts.length > 0 && this.#sees('-') && this.#letters[this.#at + 1] === '[') {
        this.#at++
        without = this.#group()
        break
      }
      parts.push(this.#part())
    } while (!this.#sees(']'))
    if (!this.#take(']')) throw this.#unreadable()
    this.#depth--
    const all = isInverse ? inverse(union(parts)) : union(parts)
    return without === null ? all : difference(all, without)
  }

  /** A character, a range of them, or a class that has a name. */
  #part(): CharClass {
    // What libxml2 does not read as it is meant may have the characters of both.
    const isNamed = this.#sees('\\') && this.#letters[this.#at + 1] === 'P'
    const isEscaped = this.#sees('\\')
    const from = this.#member()
    if (typeof from !== 'number') return isNamed ? eitherWay(from, inverse(from)) : from
    const after = this.#letters[this.#at + 1]
    if (!this.#sees('-') || after === ']' || after === '[') return single(from)
    this.#at++
    const to = this.#member()
    if (typeof to !== 'number' || to < from) throw this.#unreadable()
    return isEscaped
      ? eitherWay(charClass([from, to]), union([from, HYPHEN, to].map(single)))
      : charClass([from, to])
  }

  #member(): CharClass | number {
    if (this.#sees('\\')) {
      const escaped = this.#escape()
      const [range] = escaped.most.ranges
      return escaped.most.size === 1 ? range!.min : escaped
    }
    const letter = this.#next()
    if (letter === '[' || letter === ']') throw this.#unreadable()
    return letter.codePointAt(0)!
  }

  #escape(): CharClass {
    this.#at++
    const letter = this.#next()
    const control = CONTROLS[letter]
    if (control !== undefined) return single(control)
    if (SINGLE.test(letter)) return single(letter.codePointAt(0)!)
    const known = letter === 'p' || letter === 'P' ? this.#named() : escapedClass(letter)
    if (known === null) throw this.#unreadable()
    return letter === 'P' ? inverse(known) : known
  }

  #named(): CharClass | null {
    const end = this.#letters.indexOf('}', this.#at)
    if (!this.#take('{') || end < 0) throw this.#unreadable()
    const name = this.#letters.slice(this.#at, end).join('')
    this.#at = end + 1
    return namedClass(name)
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

const HYPHEN = 0x2d

/** A class that is one or the other. */
function eitherWay(first: CharClass, second: CharClass): CharClass {
  return { least: first.least.intersect(second.least), most: first.most.union(second.most) }
}

function single(codePoint: number): CharClass {
  return charClass([codePoint, codePoint])
}
