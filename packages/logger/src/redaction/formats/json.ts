import { endOfLines } from './lines.js'
import { JSON_STRING, PLAIN } from './syntax.js'
import type { Location, Visitor } from './visitor.js'

const SPACE = /\s/
const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y
/** Start of a YAML block value or list. */
const BLOCK = /^(?:[|>][\d+-]{0,2}(?:\s|$)|-\s)/
const QUOTE = 34
const APOSTROPHE = 39
const COMMA = 44
const COLON = 58
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** Position of a key or value without its quotes. */
interface Span {
  readonly start: number
  readonly end: number
  readonly isUnquoted: boolean
}

/**
 * Scans JSON tolerantly, because a body truncated at its limit is no longer valid JSON. A string or object
 * without an end extends to the end of the text. Any text before a colon is a key.
 */
export function scanJson(text: string, visitor: Visitor): boolean {
  return new JsonScanner(text, visitor).scan()
}

class JsonScanner {
  readonly #text: string
  readonly #visitor: Visitor
  #at = 0
  /** Name of the next value, if a rule takes it. */
  #key: string | null = null
  #keyStart = 0
  #isClean = true

  constructor(text: string, visitor: Visitor) {
    this.#text = text
    this.#visitor = visitor
  }

  scan(): boolean {
    while (this.#at < this.#text.length) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE || code === APOSTROPHE) this.#string(code)
      else if (code === COLON || isSpace(code)) this.#at++
      else if (code === COMMA || code === CLOSING_BRACE || code === CLOSING_BRACKET) {
        this.#key = null
        this.#at++
      } else if (code === OPENING_BRACE || code === OPENING_BRACKET) this.#container()
      else this.#word()
    }
    return this.#isClean
  }

  #string(quote: number): void {
    const start = this.#at
    const closing = closingQuote(this.#text, start + 1, quote === QUOTE ? '"' : "'")
    const end = closing === -1 ? this.#text.length : closing + 1
    if (quote === APOSTROPHE) this.#isClean = false
    this.#at = end
    const inner: Span = { start: start + 1, end: closing === -1 ? end : closing, isUnquoted: false }
    if (closing !== -1 && this.#isColonAt(end)) this.#becomeKey(inner, start)
    else this.#value(inner, start)
  }

  #word(): void {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && !isWordEnd(this.#text.charCodeAt(end))) end++
    this.#at = end
    const word: Span = { start, end, isUnquoted: true }
    if (this.#isColonAt(end)) {
      this.#isClean = false
      this.#becomeKey(word, start)
      return
    }
    LITERAL.lastIndex = start
    if (LITERAL.test(this.#text) && LITERAL.lastIndex === end) {
      this.#value(word, start)
      return
    }
    this.#isClean = false
    // Not a JSON value. The text is later scanned as plain text. A value that a rule must redact is taken
    // now, up to the possible start of the next member.
    if (this.#key !== null) {
      const isBlock = BLOCK.test(this.#text.slice(start, start + 4))
      while (this.#at < this.#text.length && !/[,}\]\r\n]/.test(this.#text[this.#at]!)) this.#at++
      if (isBlock || /[\r\n]/.test(this.#text[this.#at] ?? ''))
        this.#at = Math.max(this.#at, endOfLines(this.#text, this.#keyStart, start))
      this.#value({ ...word, end: this.#at }, start)
    }
    this.#key = null
  }

  #container(): void {
    const [start, key] = [this.#at, this.#key]
    this.#at++
    if (key !== null) {
      this.#at = containerEnd(this.#text, start)
      this.#visitor.take(key, this.#location({ start, end: this.#at, isUnquoted: true }, true))
    }
    this.#key = null
  }

  #becomeKey({ start, end, isUnquoted }: Span, keyStart: number): void {
    this.#key = this.#visitor.mayMatter(start, end) ? this.#takenKey(start, end, isUnquoted) : null
    // A name with a rule is not scanned as a value. It may be deleted as a whole, which an edit within it
    // would prevent.
    if (this.#key === null && !isUnquoted) this.#visitor.leaf(start, end, JSON_STRING, false)
    this.#keyStart = keyStart
  }

  #takenKey(start: number, end: number, isUnquoted: boolean): string | null {
    const written = this.#text.slice(start, end)
    const key = isUnquoted ? written : JSON_STRING.decode(written)
    return this.#visitor.takes(key) ? key : null
  }

  #value(span: Span, start: number): void {
    const key = this.#key
    if (key === null) this.#keyStart = start
    if (key !== null) this.#visitor.take(key, this.#location(span, false))
    else this.#visitor.leaf(span.start, span.end, span.isUnquoted ? PLAIN : JSON_STRING, span.isUnquoted)
    this.#key = null
  }

  #isColonAt(at: number): boolean {
    let next = at
    while (next < this.#text.length && isSpace(this.#text.charCodeAt(next))) next++
    return this.#text.charCodeAt(next) === COLON
  }

  /** Returns the location of the value that was just read. */
  #location({ start, end, isUnquoted }: Span, isContainer: boolean): Location {
    const [text, keyStart, valueEnd] = [this.#text, this.#keyStart, this.#at]
    const outer = (changedEnd: number): readonly [number, number] =>
      memberWithComma(text, keyStart, valueEnd, changedEnd)
    return { start, end, syntax: isUnquoted ? PLAIN : JSON_STRING, isUnquoted, isContainer, outer }
  }
}

function isWordEnd(code: number): boolean {
  if (code === COMMA || code === COLON || code === QUOTE || isSpace(code)) return true
  const isOpening = code === OPENING_BRACE || code === OPENING_BRACKET
  return isOpening || code === CLOSING_BRACE || code === CLOSING_BRACKET
}

/** Also treats control characters, which JSON does not allow, and a byte order mark as whitespace. */
function isSpace(code: number): boolean {
  return code <= 32 || code === 0xa0 || code === 0xfeff
}

/**
 * Returns the range of a member with the comma before it. If that comma is missing or already deleted,
 * includes the comma after it.
 */
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

/** Returns the position of the quote that ends a string, or -1. */
export function closingQuote(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0
    while (at - backslashes > from && text[at - backslashes - 1] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

/** Returns the position after the bracket that closes the one at `start`, or the end of the text. */
function containerEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPENING_BRACE || code === OPENING_BRACKET) depth++
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      depth--
      if (depth === 0) return at + 1
    } else if (code === QUOTE) {
      at = closingQuote(text, at + 1, '"')
      if (at === -1) return text.length
    }
  }
  return text.length
}
