import { latin1Of } from '../../lib/latin1.js'
import { TOKEN_BYTES, VALUE_BYTES } from './byte-classes.js'

/** Result of `read`: more bytes are needed. */
export const MORE = -1
/** Result of `read`: the syntax is invalid. */
export const BROKEN = -2
/** Result of `read`: the head exceeds its limit. */
export const TOO_LARGE = -3

const CR = 13
const LF = 10
const SPACE = 32
const TAB = 9
const COLON = 58

/** First parser state for header fields. The states of the start line have lower numbers. */
export const FIELD_START = 16
const NAME = 17
const BEFORE_VALUE = 18
const VALUE = 19
const VALUE_LF = 20
const END_LF = 21
const AFTER_NAME = 22

/**
 * Strict, incremental parser for a message head (RFC 9112). It refuses bare LF or CR, folded lines and control
 * characters. It accepts a space before a colon in responses only. Subclasses parse the start line.
 *
 *     start line CR LF   name : SP value CR LF   …   CR LF
 *                        │    │    │     │
 *                        └────┴────┴─────┴─ marks: four positions in the head for each field
 *
 * The first pass only classifies bytes and records positions. The text is decoded once and the fields are cut from it.
 * A head that arrives in one piece, as nearly all do, is not copied.
 */
export abstract class MessageHead {
  maxBytes: number
  /** Parser state; 0 if nothing of the head has been read. */
  protected state = 0
  /**
   * True if white space between a name and its colon is skipped, as a proxy must do in responses (RFC 9112 section
   * 5.1).
   */
  protected readonly skipsSpaceAfterName: boolean = false
  /** Number of bytes of the head in earlier pieces. */
  protected before = 0
  protected text = ''
  /** Four positions recorded by the start-line parser, if any, then four for each field. */
  protected readonly marks: number[] = []
  protected marked = 0
  /** Index in `marks` of the first field. */
  protected firstField = 0
  #earlier = ''

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Prepares for the next head. */
  begin(): void {
    this.#begin(0)
  }

  /** Prepares for the trailers of a chunked body, which are fields without a start line. */
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

  /** True if nothing of the head has been read. */
  get isUntouched(): boolean {
    return this.state === 0 && this.before === 0
  }

  /**
   * Continues parsing. Returns the position after the head, MORE, BROKEN, TOO_LARGE, or an error code of
   * `scanStartLine`.
   */
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

  /** Number of bytes of the head read so far; after an error, all bytes received. */
  get size(): number {
    return this.before
  }

  #fail(problem: number, bytes: Buffer, from: number, to: number): number {
    this.text = this.textSoFar(bytes, from, to)
    this.before += to - from
    return problem
  }

  /** Decodes the earlier pieces and these bytes as Latin-1. */
  protected textSoFar(bytes: Buffer, from: number, to: number): string {
    const text = latin1Of(bytes, from, to)
    return this.#earlier === '' ? text : this.#earlier + text
  }

  /** Returns the fields as a flat list with names in lower case. Call it after `read` has found the end. */
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

  /**
   * Continues parsing the start line. Returns the position after it and sets FIELD_START, or returns MORE or an error
   * code.
   */
  protected abstract scanStartLine(bytes: Buffer, from: number, to: number): number

  #scan(bytes: Buffer, from: number, to: number): number {
    let at = from
    if (this.state < FIELD_START) {
      at = this.scanStartLine(bytes, from, to)
      if (at < 0) return at
    }
    return this.#scanFields(bytes, at, to, this.before - from)
  }

  /** @param shift difference between a position in the head and a position in these bytes. */
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
 * Returns the end of a field value without trailing white space. A trailing tab is kept in a framing field, so that the
 * value is refused: some parsers, including undici's, do not strip it.
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
