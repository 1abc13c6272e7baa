import { latin1Of } from '../latin1.js'
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

// Where in the head the next byte stands.
const START = 0
const VERSION = 1
const STATUS = 2
const REASON = 3
const STATUS_LF = 4
const FIELD_START = 5
const NAME = 6
const BEFORE_VALUE = 7
const VALUE = 8
const VALUE_LF = 9
const END_LF = 10

const VERSION_PREFIX = 'HTTP/1.'

/**
 * Reads the head of a response from bytes that come in any pieces, strictly (RFC 9112): no bare LF or CR, no folded
 * lines, no space before a colon, no control characters.
 *
 *     HTTP/1.1 200 OK CR LF   name : SP value CR LF   …   CR LF
 *     version  status reason  │    │    │     │
 *                             └────┴────┴─────┴─ marks: four places in the head for each field
 *
 * The first pass only classifies bytes and notes places; the text is made once, and the fields are cut from it. A head that
 * comes in one piece, as nearly all do, is not copied.
 */
export class ResponseHead {
  status = 0
  /** The 1 of HTTP/1.1, the 0 of HTTP/1.0. */
  minor = 1
  readonly #maxBytes: number
  #state = START
  /** Bytes of the current version or status that were read. */
  #count = 0
  /** Bytes of the head in earlier pieces. */
  #before = 0
  #earlier = ''
  #text = ''
  /** The four places of each field. */
  readonly #marks: number[] = []
  #marked = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Gets ready for the next head. */
  begin(): void {
    this.#begin(START)
  }

  /** Gets ready for the trailers of a chunked body, which are fields without a status line. */
  beginTrailers(): void {
    this.#begin(FIELD_START)
  }

  #begin(state: number): void {
    this.status = 0
    this.#state = state
    this.#count = 0
    this.#before = 0
    this.#earlier = ''
    this.#text = ''
    this.#marked = 0
  }

  /** Nothing of the head was read yet. */
  get isUntouched(): boolean {
    return this.#state === START && this.#before === 0
  }

  /** Reads on. Answers the place behind the head, or MORE, BROKEN or TOO_LARGE. */
  read(bytes: Buffer, from: number, to: number): number {
    const end = this.#scan(bytes, from, to)
    const length = this.#before + (end >= 0 ? end : to) - from
    if (length > this.#maxBytes && end !== BROKEN) return TOO_LARGE
    if (end >= 0) {
      if (this.#marked > 0) this.#text = this.#earlier + latin1Of(bytes, from, end)
    } else if (end === MORE) {
      this.#earlier += latin1Of(bytes, from, to)
      this.#before = length
    }
    return end
  }

  /** The fields as a flat list, names in lower case; after `read` has found the end. */
  takeFields(): string[] {
    const text = this.#text
    const marks = this.#marks
    const fields: string[] = []
    for (let i = 0; i < this.#marked; i += 4) {
      const name = text.substring(marks[i]!, marks[i + 1]!).toLowerCase()
      const start = marks[i + 2]!
      fields.push(name, text.substring(start, trimmedEnd(text, start, marks[i + 3]!, isFraming(name))))
    }
    this.#text = ''
    this.#marked = 0
    return fields
  }

  #scan(bytes: Buffer, from: number, to: number): number {
    let at = from
    if (this.#state < FIELD_START) {
      at = this.#scanStatusLine(bytes, from, to)
      if (at < 0 || this.#state < FIELD_START) return at
    }
    return this.#scanFields(bytes, at, to, this.#before - from)
  }

  #scanStatusLine(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!
      switch (this.#state) {
        case START:
          // Some servers end the body before with a line end too many; it means nothing.
          if (byte === CR || byte === LF) break
          this.#state = VERSION
          if (!this.#takeVersion(byte)) return BROKEN
          break
        case VERSION:
          if (!this.#takeVersion(byte)) return BROKEN
          break
        case STATUS:
          if (!this.#takeStatus(byte)) return BROKEN
          break
        case REASON:
          if (byte === CR) this.#state = STATUS_LF
          else if (VALUE_BYTES[byte] !== 1) return BROKEN
          break
        default:
          if (byte !== LF) return BROKEN
          this.#state = FIELD_START
          return at + 1
      }
    }
    return MORE
  }

  /** `HTTP/1.`, the minor version, a space. */
  #takeVersion(byte: number): boolean {
    const at = this.#count++
    if (at < VERSION_PREFIX.length) return byte === VERSION_PREFIX.charCodeAt(at)
    if (at === VERSION_PREFIX.length) {
      this.minor = byte - 48
      return this.minor === 0 || this.minor === 1
    }
    this.#state = STATUS
    this.#count = 0
    return byte === SPACE
  }

  /** Three digits, then a space or the end of the line. */
  #takeStatus(byte: number): boolean {
    if (this.#count++ < 3) {
      this.status = this.status * 10 + byte - 48
      return byte >= 48 && byte <= 57
    }
    this.#state = byte === CR ? STATUS_LF : REASON
    return byte === CR || byte === SPACE
  }

  /** @param shift what turns a place in these bytes into a place in the head. */
  #scanFields(bytes: Buffer, from: number, to: number, shift: number): number {
    const marks = this.#marks
    let state = this.#state
    let marked = this.#marked
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
          if (bytes[at] !== COLON) return BROKEN
          marks[marked++] = at + shift
          state = BEFORE_VALUE
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
          this.#marked = marked
          return bytes[at] === LF ? at + 1 : BROKEN
      }
    }
    this.#state = state
    this.#marked = marked
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
