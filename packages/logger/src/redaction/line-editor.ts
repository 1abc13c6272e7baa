import { closingQuote } from './formats/json.js'
import { asciiJson } from './members.js'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125
/** Length of strings whose ends are remembered. */
const LONG = 256
const LITERALS = ['true', 'false', 'null']

/** Change of a line. Without a text, the member in the range is deleted. */
interface LineEdit {
  readonly start: number
  readonly end: number
  readonly text: string | null
}

/**
 * Reads the JSON of a record and edits it in place. No object is created for the record, which would cost more than
 * all rules for most records. All methods throw if the line is not valid.
 */
export class LineEditor {
  readonly line: string
  /** Position of the next token. */
  at = 0
  /** Position of the last member that was entered. */
  memberStart = 0
  /** End of its name. */
  nameEnd = 0
  readonly #edits: LineEdit[] = []
  readonly #firstEscape: number
  /** Ends of long strings by their starts, because the text of a body is passed several times. */
  readonly #ends: number[] = []

  constructor(line: string) {
    this.line = line
    const backslash = line.indexOf('\\')
    this.#firstEscape = backslash === -1 ? line.length : backslash
  }

  get isChanged(): boolean {
    return this.#edits.length > 0
  }

  /** Enters the object at the current position. Returns true at the value of its first member, false after it. */
  enter(): boolean {
    this.#expect(OPENING_BRACE)
    if (this.#code() !== CLOSING_BRACE) return this.#name()
    this.at++
    return false
  }

  /** Goes from the end of a value to that of the next member. Returns false after the last one. */
  next(): boolean {
    const code = this.#code()
    this.at++
    if (code === COMMA) return this.#name()
    if (code !== CLOSING_BRACE) throw new Error('the end of an object is expected')
    return false
  }

  /**
   * Reads an object. Returns the positions of the values of some members, -1 for those that are missing or null.
   */
  positions<const Names extends readonly string[]>(names: Names): { -readonly [I in keyof Names]: number } {
    const found: number[] = new Array(names.length).fill(-1)
    for (let more = this.enter(); more; more = this.next()) {
      const i = this.#indexIn(names)
      // With a duplicate, readers would differ in which one they see.
      if (i !== -1 && found[i] !== -1) throw new Error('a record has each member once')
      if (i !== -1 && !this.line.startsWith('null', this.at)) found[i] = this.at
      this.skip()
    }
    return found as { -readonly [I in keyof Names]: number }
  }

  /** Returns the position of a value in the object at a position, -1 if one of them is missing. */
  positionIn(start: number, name: string): number {
    if (start === -1) return -1
    const back = this.at
    this.at = start
    const [found] = this.positions([name])
    this.at = back
    return found
  }

  /** Returns the name of the last member that was entered. */
  memberName(): string {
    return this.value(this.memberStart, this.nameEnd + 1) as string
  }

  /** Goes to the end of a value. Returns its position. */
  skip(): number {
    const code = this.#code()
    if (code === QUOTE) this.#string()
    else if (code === OPENING_BRACE) for (let more = this.enter(); more; more = this.next()) this.skip()
    else if (code === OPENING_BRACKET) this.#list()
    else this.#scalar()
    return this.at
  }

  /** Verifies that the line ends here. Returns the position of its last bracket. */
  finish(): number {
    if (!Number.isNaN(this.#code())) throw new Error('a record is one object')
    return this.line.lastIndexOf('}')
  }

  /** Returns the value between two positions. */
  value(start: number, end: number): unknown {
    return JSON.parse(this.line.slice(start, end))
  }

  /** Returns the value at a position. */
  valueAt(start: number): unknown {
    return this.value(start, this.#endOf(start))
  }

  /** Replaces the value between two positions. */
  replace(start: number, end: number, value: unknown): void {
    this.#edits.push({ start, end, text: asciiJson(value) })
  }

  /** Deletes the member between two positions. */
  delete(start: number, end: number): void {
    this.#edits.push({ start, end, text: null })
  }

  /** Replaces the value at a position. */
  replaceAt(start: number, value: unknown): void {
    this.replace(start, this.#endOf(start), value)
  }

  /** Deletes a member with this name and position of its value. */
  deleteNamed(name: string, start: number): void {
    this.delete(this.startOf(name, start), this.#endOf(start))
  }

  /** Returns the start of a member with this name and position of its value. */
  startOf(name: string, start: number): number {
    return this.line.lastIndexOf(`"${name}"`, start - 1)
  }

  /** Returns the line with all changes. Adds a member to its end, unless it is an empty text. */
  edited(bracket: number, member: string): string {
    let result = ''
    let at = 0
    for (const { start, end, text } of this.#edits.sort((a, b) => a.start - b.start)) {
      const kept = this.line.slice(at, start)
      const before = text === null ? kept.trimEnd() : kept
      at = end
      if (text !== null) result += kept + text
      // A comma before the member is deleted with it, or the one after it.
      else if (before.endsWith(',')) result += before.slice(0, -1)
      else {
        result += kept
        while (this.line.charCodeAt(at) <= 32) at++
        if (this.line.charCodeAt(at) === COMMA) at++
      }
    }
    result += this.line.slice(at, bracket)
    if (member !== '') result += result.endsWith('{') ? member : `,${member}`
    return result + this.line.slice(bracket)
  }

  #endOf(start: number): number {
    const back = this.at
    this.at = start
    const end = this.skip()
    this.at = back
    return end
  }

  #name(): boolean {
    this.#code()
    this.memberStart = this.at
    this.nameEnd = this.#string()
    this.#expect(COLON)
    this.#code()
    return true
  }

  #indexIn(names: readonly string[]): number {
    const start = this.memberStart + 1
    const length = this.nameEnd - start
    for (let i = 0; i < names.length; i++) {
      if (names[i]!.length === length && this.line.startsWith(names[i]!, start)) return i
    }
    if (this.#firstEscape < this.nameEnd && this.line.slice(start, this.nameEnd).includes('\\'))
      throw new Error('the names of these members have no escapes')
    return -1
  }

  /** Reads a string. Returns the position of its closing quote. */
  #string(): number {
    this.#expect(QUOTE)
    const from = this.at
    const known = this.#ends.indexOf(from)
    let end = known === -1 ? this.line.indexOf('"', from) : this.#ends[known + 1]!
    if (known === -1 && end > this.#firstEscape) end = closingQuote(this.line, from, '"')
    if (end === -1) throw new Error('a string has no end')
    if (known === -1 && end - from > LONG) this.#ends.push(from, end)
    this.at = end + 1
    return end
  }

  #list(): void {
    this.at++
    if (this.#code() === CLOSING_BRACKET) this.at++
    else {
      this.skip()
      while (this.#code() === COMMA) {
        this.at++
        this.skip()
      }
      this.#expect(CLOSING_BRACKET)
    }
  }

  #scalar(): void {
    const start = this.at
    while (isInNumber(this.line.charCodeAt(this.at))) this.at++
    if (this.at > start) return
    const literal = LITERALS.find((one) => this.line.startsWith(one, start))
    if (literal === undefined) throw new Error('a value is expected')
    this.at += literal.length
  }

  #expect(code: number): void {
    if (this.#code() !== code) throw new Error('another character is expected')
    this.at++
  }

  /** Skips white space. Returns the character after it, NaN at the end of the line. */
  #code(): number {
    const code = this.line.charCodeAt(this.at)
    return code <= 32 ? this.#codeAfterSpace() : code
  }

  #codeAfterSpace(): number {
    while (this.line.charCodeAt(this.at) <= 32) this.at++
    return this.line.charCodeAt(this.at)
  }
}

function isInNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46 || code === 45 || code === 43 || (code | 32) === 101
}
