import { decode } from '../encoding/byte-text.js'
import type { BareItem, Dictionary, InnerList, Item, Member, Parameters } from './structured-field.js'

/** Thrown for an invalid field. Callers outside of this module get null instead. */
class Malformed extends Error {}

/**
 * Parses a dictionary, or returns null. Stricter than RFC 9651 in two points: duplicate keys and parameters are
 * refused, because parsers disagree on which one counts. Base64 without padding is refused too.
 */
export function parseDictionary(text: string): Dictionary | null {
  return attempt(text, (parser) => parser.dictionary())
}

/** Parses a list, or returns null. */
export function parseList(text: string): readonly Member[] | null {
  return attempt(text, (parser) => parser.list())
}

/** Parses a single item, or returns null. */
export function parseItem(text: string): Item | null {
  return attempt(text, (parser) => parser.item())
}

function attempt<T>(text: string, parse: (parser: Parser) => T): T | null {
  try {
    const parser = new Parser(text)
    parser.skip(/ */y)
    const parsed = parse(parser)
    parser.skip(/ */y)
    return parser.isDone ? parsed : null
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

const KEY = /[a-z*][a-z0-9_.*-]*/y
const NUMBER = /-?\d{1,15}(?:\.\d{1,3})?/y
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/y
const TOKEN = /[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/y
const BYTES = /:[A-Za-z0-9+/]*={0,2}:/y
const BOOLEAN = /\?[01]/y
const OPTIONAL_SPACE = /[ \t]*/y

/** Parser without backtracking, so it takes linear time. */
class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isDone(): boolean {
    return this.#at === this.#text.length
  }

  dictionary(): Dictionary {
    const members = new Map<string, Member>()
    this.#separated(() => {
      const key = this.#take(KEY)
      if (members.has(key)) throw new Malformed()
      members.set(key, this.#eat('=') ? this.#member() : this.#true())
    })
    return members
  }

  list(): Member[] {
    const members: Member[] = []
    this.#separated(() => members.push(this.#member()))
    return members
  }

  item(): Item {
    return { item: this.#bareItem(), parameters: this.#parameters() }
  }

  skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at
    pattern.test(this.#text)
    this.#at = pattern.lastIndex
  }

  #separated(read: () => void): void {
    if (this.isDone) return
    for (;;) {
      read()
      const end = this.#at
      this.skip(OPTIONAL_SPACE)
      if (this.isDone) {
        // Trailing spaces are handled by the caller. A trailing tab is not allowed.
        this.#at = end
        return
      }
      if (!this.#eat(',')) throw new Malformed()
      this.skip(OPTIONAL_SPACE)
      if (this.isDone) throw new Malformed()
    }
  }

  #true(): Item {
    return { item: { type: 'boolean', value: true }, parameters: this.#parameters() }
  }

  #member(): Member {
    return this.#text[this.#at] === '(' ? this.#innerList() : this.item()
  }

  #innerList(): InnerList {
    const items: Item[] = []
    this.#at++
    this.skip(/ */y)
    while (!this.#eat(')')) {
      items.push(this.item())
      const next = this.#text[this.#at]
      if (next !== ' ' && next !== ')') throw new Malformed()
      this.skip(/ */y)
    }
    return { items, parameters: this.#parameters() }
  }

  #parameters(): Parameters {
    const parameters = new Map<string, BareItem>()
    while (this.#eat(';')) {
      this.skip(/ */y)
      const key = this.#take(KEY)
      if (parameters.has(key)) throw new Malformed()
      parameters.set(key, this.#eat('=') ? this.#bareItem() : { type: 'boolean', value: true })
    }
    return parameters
  }

  #bareItem(): BareItem {
    const first = this.#text[this.#at] ?? ''
    if (first === '"') return { type: 'string', value: unescaped(this.#take(STRING)) }
    if (first === ':') return { type: 'bytes', value: bytesOf(this.#take(BYTES)) }
    if (first === '?') return { type: 'boolean', value: this.#take(BOOLEAN) === '?1' }
    if (first === '@') return this.#date()
    if (first === '-' || (first >= '0' && first <= '9')) return this.#number()
    return { type: 'token', value: this.#take(TOKEN) }
  }

  #number(): BareItem {
    const text = this.#take(NUMBER)
    const isDecimal = text.includes('.')
    // A decimal may have at most twelve integer digits.
    if (isDecimal && text.indexOf('.') > (text[0] === '-' ? 13 : 12)) throw new Malformed()
    return { type: isDecimal ? 'decimal' : 'integer', value: Number(text) }
  }

  #date(): BareItem {
    this.#at++
    const { type, value } = this.#number()
    if (type !== 'integer') throw new Malformed()
    return { type: 'date', value: value as number }
  }

  #eat(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): string {
    const start = this.#at
    pattern.lastIndex = start
    if (!pattern.test(this.#text)) throw new Malformed()
    this.#at = pattern.lastIndex
    return this.#text.slice(start, this.#at)
  }
}

function unescaped(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1')
}

function bytesOf(text: string): Buffer {
  const bytes = decode(text.slice(1, -1), 'base64')
  if (bytes === null) throw new Malformed()
  return bytes
}
