import { JSON_STRING, PLAIN } from './syntax.js'
import type { Place, Visitor } from './visitor.js'

const SPACE = /\s/
const WORD_END = /[\s,:"{}[\]]/
const LITERAL = /^(?:-?\d[\d.eE+-]*|true|false|null)$/

/** A member or an item: its key, and its value. */
interface Span {
  readonly keyStart: number
  readonly start: number
  readonly end: number
}

/**
 * Scans JSON without a parser's strictness, because a body that was cut at its limit is no JSON any more: a string or
 * an object without an end goes on to the end of the text, and whatever stands before a colon is a key.
 */
export function scanJson(text: string, visitor: Visitor): boolean {
  return new JsonScanner(text, visitor).scan()
}

class JsonScanner {
  readonly #text: string
  readonly #visitor: Visitor
  #at = 0
  #key: string | null = null
  #keyStart = 0
  #isClean = true

  constructor(text: string, visitor: Visitor) {
    this.#text = text
    this.#visitor = visitor
  }

  scan(): boolean {
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]!
      if (character === '"' || character === "'") this.#string(character)
      else if (character === '{' || character === '[') this.#container()
      else if (/[\s:]/.test(character)) this.#at++
      else if (/[,}\]]/.test(character)) {
        this.#key = null
        this.#at++
      } else this.#word()
    }
    return this.#isClean
  }

  #string(quote: string): void {
    const start = this.#at
    const closing = closingQuote(this.#text, start + 1, quote)
    const end = closing === -1 ? this.#text.length : closing + 1
    const inner = this.#place({ keyStart: start, start: start + 1, end: closing === -1 ? end : closing }, end)
    if (quote === "'") this.#isClean = false
    if (closing !== -1 && this.#isColonAt(end)) this.#becomeKey(inner, start, end)
    else this.#value(inner, end)
  }

  #word(): void {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && !WORD_END.test(this.#text[end]!)) end++
    const place = { ...this.#place({ keyStart: start, start, end }, end), syntax: PLAIN, isUnquoted: true }
    if (this.#isColonAt(end)) {
      this.#isClean = false
      this.#becomeKey(place, start, end)
      return
    }
    if (!LITERAL.test(this.#text.slice(start, end))) this.#isClean = false
    this.#value(place, end)
  }

  #container(): void {
    const key = this.#key
    if (key === null || !this.#visitor.takes(key)) {
      this.#key = null
      this.#at++
      return
    }
    const [start, end] = [this.#at, containerEnd(this.#text, this.#at)]
    const place = this.#place({ keyStart: start, start, end }, end)
    this.#visitor.take(key, { ...place, syntax: PLAIN, isUnquoted: true, isContainer: true })
    this.#key = null
    this.#at = end
  }

  #becomeKey(place: Place, start: number, end: number): void {
    const key = place.syntax.decode(this.#text.slice(place.start, place.end))
    // A name that has a rule holds no value; it may have to go as a whole, which a change within it would prevent.
    if (!place.isUnquoted && !this.#visitor.takes(key)) this.#visitor.leaf(place)
    this.#key = key
    this.#keyStart = start
    this.#at = end
  }

  #value(place: Place, end: number): void {
    const key = this.#key
    if (key !== null && this.#visitor.takes(key)) this.#visitor.take(key, place)
    else this.#visitor.leaf(place)
    this.#key = null
    this.#at = end
  }

  #isColonAt(at: number): boolean {
    let next = at
    while (next < this.#text.length && SPACE.test(this.#text[next]!)) next++
    return this.#text[next] === ':'
  }

  /** @param valueEnd behind the closing quote. */
  #place({ keyStart, start, end }: Span, valueEnd: number): Place {
    const text = this.#text
    const memberStart = this.#key === null ? keyStart : this.#keyStart
    return {
      start,
      end,
      syntax: JSON_STRING,
      isUnquoted: false,
      isContainer: false,
      outer: (changedEnd) => memberWithComma(text, memberStart, valueEnd, changedEnd),
    }
  }
}

/** A member goes with the comma before it; when that has gone with another member, or is not there, with the next. */
function memberWithComma(
  text: string,
  start: number,
  end: number,
  changedEnd: number,
): readonly [number, number] {
  let before = start - 1
  while (before >= changedEnd && SPACE.test(text[before]!)) before--
  if (before >= changedEnd && text[before] === ',') return [before, end]
  let after = end
  while (after < text.length && SPACE.test(text[after]!)) after++
  return [start, text[after] === ',' ? after + 1 : end]
}

/** Where the quote is that ends a string, or -1. */
function closingQuote(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0
    while (at - backslashes > from && text[at - backslashes - 1] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

/** Behind the bracket that closes the one at `start`, or the end of the text. */
function containerEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      depth--
      if (depth === 0) return at + 1
    } else if (character === '"') {
      at = closingQuote(text, at + 1, '"')
      if (at === -1) return text.length
    }
  }
  return text.length
}
