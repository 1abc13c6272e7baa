import { latin1Of } from '../lib/latin1.js'
import { TOKEN_BYTES, VALUE_BYTES } from './byte-classes.js'

/** What `read` answers when the bytes ran out, the grammar was broken, or the head outgrew its bound. */
export const MORE = -1
export const BROKEN = -2
export const TOO_LARGE = -3

const CR = 13
const LF = 10
const SPACE = 32
const TAB = 9
const COLON = 58

// Where in the head the next byte stands. States of the start line are below FIELD_START.
export const FIELD_START = 16
const NAME = 17
const BEFORE_VALUE = 18
const VALUE = 19
const VALUE_LF = 20
const END_LF = 21
const AFTER_NAME = 22

/**
 * Reads the head of a message from bytes that come in any pieces, strictly (RFC 9112): no bare LF or CR, no folded
 * lines, no control characters; a space before a colon in responses only. Who extends it reads the start line.
 *
 *     start line CR LF   name : SP value CR LF   …   CR LF
 *                        │    │    │     │
 *                        └────┴────┴─────┴─ marks: four places in the head for each field
 *
 * The first pass only classifies bytes and notes places; the text is made once, and the fields are cut from it. A head that
 * comes in one piece, as nearly all do, is not copied.
 */
export abstract class MessageHead {
  maxBytes: number
  /** 0: nothing of the head was read yet. */
  protected state = 0
  /** True if white space between a name and its colon is skipped, as a proxy has to in responses (RFC 9112 section 5.1). */
  protected readonly skipsSpaceAfterName: boolean = false
  /** Bytes of the head in earlier pieces. */
  protected before = 0
  protected text = ''
  /** Four places of the start line, where its reader notes them, then the four of each field. */
  protected readonly marks: number[] = []
  protected marked = 0
  /** Where in the marks the fields begin. */
  protected firstField = 0
  #earlier = ''

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Gets ready for the next head. */
  begin(): void {
    this.#begin(0)
  }

  /** Gets ready for the trailers of a chunked body, which are fields without a start line. */
  beginTrailers(): void {
    this.#begin(FIELD_START)
  }

  #begin(state: number): void {
    this.state = state
    this.before = 0
    this.#earlier = ''
    this.text = ''
    this.marked = 0
    this.firstField = 0
  }

  /** Nothing of the head was read yet. */
  get isUntouched(): boolean {
    return this.state === 0 && this.before === 0
  }

  /** Reads on. Answers the place behind the head, or MORE, BROKEN, TOO_LARGE or what the reader of the start line answers. */
  read(bytes: Buffer, from: number, to: number): number {
    const end = this.#scan(bytes, from, to)
    const length = this.before + (end >= 0 ? end : to) - from
    if (length > this.maxBytes && (end >= 0 || end === MORE)) return this.#fail(TOO_LARGE, bytes, from, to)
    if (end < 0 && end !== MORE) return this.#fail(end, bytes, from, to)
    if (end === MORE) this.#earlier = this.textSoFar(bytes, from, to)
    else if (this.marked > 0) this.text = this.textSoFar(bytes, from, end)
    this.before = length
    return end
  }

  /** Bytes of the head that were read; all that came, where it has failed. */
  get size(): number {
    return this.before
  }

  #fail(problem: number, bytes: Buffer, from: number, to: number): number {
    this.text = this.textSoFar(bytes, from, to)
    this.before += to - from
    return problem
  }

  /** What was read earlier and these bytes, one character a byte. */
  protected textSoFar(bytes: Buffer, from: number, to: number): string {
    const text = latin1Of(bytes, from, to)
    return this.#earlier === '' ? text : this.#earlier + text
  }

  /** The fields as a flat list, names in lower case; after `read` has found the end. */
  takeFields(): string[] {
    const { text, marks } = this
    const fields: string[] = []
    for (let i = this.firstField; i < this.marked; i += 4) {
      const name = text.substring(marks[i]!, marks[i + 1]!).toLowerCase()
      const start = marks[i + 2]!
      fields.push(name, text.substring(start, trimmedEnd(text, start, marks[i + 3]!, isFraming(name))))
    }
    this.text = ''
    this.marked = 0
    return fields
  }

  /** Reads on in the start line: the place behind it, with the state FIELD_START, or MORE or what is wrong with it. */
  protected abstract scanStartLine(bytes: Buffer, from: number, to: number): number

  #scan(bytes: Buffer, from: number, to: number): number {
    let at = from
    if (this.state < FIELD_START) {
      at = this.scanStartLine(bytes, from, to)
      if (at < 0) return at
    }
    return this.#scanFields(bytes, at, to, this.before - from)
  }

  /** @param shift what turns a place in these bytes into a place in the head. */
  #scanFields(bytes: Buffer, from: number, to: number, shift: number): number {
    const marks = this.marks
    let state = this.state
    let marked = this.marked
    for (let at = from; at < to; at++) {
      switch (state) {
        case FIELD_START:
          if (bytes[at] === CR) {
            state = END_LF
            break
          }
          if (TOKEN_BYTES[bytes[at]!] !== 1) return BROKEN
          marks[marked++] = at + shift
          state = NAME
          break
        case NAME:
          while (at < to && TOKEN_BYTES[bytes[at]!] === 1) at++
          if (at === to) break
          if (bytes[at] === COLON) state = BEFORE_VALUE
          else if (this.skipsSpaceAfterName && isWhite(bytes[at]!, false)) state = AFTER_NAME
          else return BROKEN
          marks[marked++] = at + shift
          break
        case AFTER_NAME:
          if (bytes[at] === COLON) state = BEFORE_VALUE
          else if (!isWhite(bytes[at]!, false)) return BROKEN
          break
        case BEFORE_VALUE:
          if (bytes[at] === SPACE || bytes[at] === TAB) break
          marks[marked++] = at + shift
          state = VALUE
          at--
          break
        case VALUE:
          while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++
          if (at === to) break
          if (bytes[at] !== CR) return BROKEN
          marks[marked++] = at + shift
          state = VALUE_LF
          break
        case VALUE_LF:
          if (bytes[at] !== LF) return BROKEN
          state = FIELD_START
          break
        default:
          this.marked = marked
          return bytes[at] === LF ? at + 1 : BROKEN
      }
    }
    this.state = state
    this.marked = marked
    return MORE
  }
}

/**
 * Where a value ends without the white space behind it. A tab behind a value that frames the body stays, which makes it
 * one that is refused: there are parsers that do not take such a value for what it says, undici's among them.
 */
function trimmedEnd(text: string, from: number, to: number, keepsTab: boolean): number {
  let end = to
  while (end > from && isWhite(text.charCodeAt(end - 1), keepsTab)) end--
  return end
}

function isWhite(code: number, keepsTab: boolean): boolean {
  return code === SPACE || (code === TAB && !keepsTab)
}

function isFraming(name: string): boolean {
  return name === 'content-length' || name === 'transfer-encoding'
}
