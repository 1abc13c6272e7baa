import { ANYTHING, alternatives, EMPTY, oneOf, type Part, repeated, sequence } from './part.js'

/** Deepest nesting of groups; what nests deeper is not read. */
const MAX_DEPTH = 50
const COUNT = /\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y
const FLAGS = /\?(?:P?<[A-Za-z_]\w*>|[imsU-]*:)/y
const FLAGS_ALONE = /\?[imsU-]+\)/y
const ANCHORS = 'bBAzZ'
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', a: '\x07' }
const NAMED_CLASSES = 'DwWsSC'
const DIGITS = [...'0123456789']

/** What it does not read makes it give up: it only has to be right, not complete. */
class Unread extends Error {}

/** Reads a pattern of RE2 for what it needs. Case does not matter to it, so that flags do not either. */
export class PatternReader {
  readonly #pattern: string
  #at = 0
  #depth = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  /** Null: there is something that is not understood. */
  read(): Part | null {
    try {
      const part = this.#alternatives()
      return this.#at === this.#pattern.length ? part : null
    } catch (error) {
      if (error instanceof Unread) return null
      throw error
    }
  }

  #alternatives(): Part {
    const branches = [this.#sequence()]
    while (this.#take('|')) branches.push(this.#sequence())
    return alternatives(branches)
  }

  #sequence(): Part {
    const parts: Part[] = []
    for (;;) {
      const next = this.#pattern[this.#at]
      if (next === undefined || next === '|' || next === ')') return sequence(parts)
      if (this.#pattern.startsWith('\\Q', this.#at)) parts.push(...this.#quoted())
      else parts.push(this.#quantified(this.#atom(next)))
    }
  }

  #atom(first: string): Part {
    this.#at++
    switch (first) {
      case '(':
        return this.#group()
      case '[':
        return this.#class()
      case '\\':
        return this.#escape()
      case '.':
        return ANYTHING
      case '^':
      case '$':
        return EMPTY
      default:
        return oneOf([first])
    }
  }

  #quantified(atom: Part): Part {
    let part = atom
    for (;;) {
      const counts = this.#counts()
      if (counts === null) return part
      this.#take('?')
      part = repeated(part, counts[0], counts[1])
    }
  }

  #counts(): readonly [number, number] | null {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    const match = this.#match(COUNT)
    if (match === null) return null
    const min = Number(match[1])
    if (match[2] === undefined) return [min, min]
    return [min, match[3] === undefined ? Number.POSITIVE_INFINITY : Number(match[3])]
  }

  #group(): Part {
    if (this.#match(FLAGS_ALONE) !== null) return EMPTY
    if (this.#pattern[this.#at] === '?' && this.#match(FLAGS) === null) throw new Unread()
    if (++this.#depth > MAX_DEPTH) throw new Unread()
    const part = this.#alternatives()
    if (!this.#take(')')) throw new Unread()
    this.#depth--
    return part
  }

  /** After `\`. */
  #escape(): Part {
    const name = this.#pattern[this.#at++]
    if (name === undefined) throw new Unread()
    if (ANCHORS.includes(name)) return EMPTY
    if (name === 'd') return oneOf(DIGITS)
    if (NAMED_CLASSES.includes(name)) return ANYTHING
    const control = CONTROLS[name]
    if (control !== undefined) return oneOf([control])
    // Hexadecimal, octal, Unicode classes: rare enough.
    if (/[\w]/.test(name)) throw new Unread()
    return oneOf([name])
  }

  #quoted(): Part[] {
    const from = this.#at + 2
    const end = this.#pattern.indexOf('\\E', from)
    this.#at = end === -1 ? this.#pattern.length : end + 2
    const text = this.#pattern.slice(from, end === -1 ? undefined : end)
    return [...text].map((one) => oneOf([one]))
  }

  /** After `[`. Only lists of single characters are of use. */
  #class(): Part {
    const characters: string[] = []
    let isList = !this.#take('^')
    for (let first = true; ; first = false) {
      const next = this.#pattern[this.#at++]
      if (next === undefined) throw new Unread()
      if (next === ']' && !first) return isList ? oneOf(characters) : ANYTHING
      if (next === '[' && this.#pattern[this.#at] === ':') isList = this.#skipNamed()
      else if (next === '\\') isList = this.#classEscape(characters) && isList
      else if (next === '-') isList = false
      else characters.push(next)
    }
  }

  #skipNamed(): false {
    const end = this.#pattern.indexOf(':]', this.#at)
    if (end === -1) throw new Unread()
    this.#at = end + 2
    return false
  }

  #classEscape(characters: string[]): boolean {
    const name = this.#pattern[this.#at++]
    if (name === undefined || 'pPx01234567'.includes(name)) throw new Unread()
    const meant = CONTROLS[name] ?? name
    if (meant === name && /\w/.test(name)) return false
    characters.push(meant)
    return true
  }

  #take(expected: string): boolean {
    if (this.#pattern[this.#at] !== expected) return false
    this.#at++
    return true
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#pattern)
    if (match !== null) this.#at = expression.lastIndex
    return match
  }
}
