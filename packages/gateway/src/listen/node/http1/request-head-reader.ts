import { TARGET_BYTES, TOKEN_BYTES } from '../../../protocol/http1/byte-classes.js'
import { BROKEN, FIELD_START, MessageHead, MORE } from '../../../protocol/http1/message-head.js'

/** Result of `read` besides those of every head: unsupported HTTP version. */
export const BAD_VERSION = -4

const CR = 13
const LF = 10
const SPACE = 32

// Parser states for the request line.
const START = 0
const START_LF = 1
const METHOD = 2
const TARGET = 3
const VERSION = 4
const VERSION_LF = 5

/** Expected bytes of the version; 0 stands for a digit. */
const VERSION_FORM = [...'HTTP/'].map((char) => char.charCodeAt(0)).concat(0, 46, 0)

/**
 * Parser for the head of a request:
 *
 *     GET /path?query HTTP/1.1 CR LF   fields   CR LF
 *     │  ││          │       └ minor
 *     └──┴┴──────────┴─ marks
 *
 * Empty lines before it are skipped (RFC 9112 section 2.2), but count as part of the head.
 */
export class RequestHeadReader extends MessageHead {
  /** Minor version: 1 for HTTP/1.1, 0 for HTTP/1.0. */
  minor = 1
  #major = 1
  /** Number of version bytes read. */
  #count = 0

  override begin(): void {
    super.begin()
    this.#count = 0
  }

  /** Method as received, or empty if not known yet. Read it before taking the fields. */
  get method(): string {
    const { marks, marked, text } = this
    return marked < 2 ? '' : knownMethod(text.substring(marks[0]!, marks[1]!))
  }

  /** Target as received, possibly incomplete after an error. Read it before taking the fields. */
  get target(): string {
    const { marks, marked, text } = this
    if (marked < 3) return ''
    return text.substring(marks[2]!, marked < 4 ? text.length : marks[3]!)
  }

  /** True if the head failed within the request line. */
  get isInLine(): boolean {
    return this.state < FIELD_START
  }

  /** Text of an invalid head, as received. */
  get received(): string {
    return this.text
  }

  protected override scanStartLine(bytes: Buffer, from: number, to: number): number {
    const { marks } = this
    const shift = this.before - from
    for (let at = from; at < to; at++) {
      switch (this.state) {
        case START:
          if (bytes[at] === CR) {
            this.state = START_LF
            break
          }
          marks[this.marked++] = at + shift
          this.state = METHOD
          at--
          break
        case START_LF:
          if (bytes[at] !== LF) return BROKEN
          this.state = START
          break
        case METHOD:
          while (at < to && TOKEN_BYTES[bytes[at]!] === 1) at++
          if (at === to) break
          if (bytes[at] !== SPACE || at + shift === marks[0]) return BROKEN
          marks[this.marked++] = at + shift
          marks[this.marked++] = at + 1 + shift
          this.state = TARGET
          break
        case TARGET:
          while (at < to && TARGET_BYTES[bytes[at]!] === 1) at++
          if (at === to) break
          if (bytes[at] !== SPACE || at + shift === marks[2]) return BROKEN
          marks[this.marked++] = at + shift
          this.state = VERSION
          break
        case VERSION: {
          const end = this.#takeVersion(bytes[at]!)
          if (end < 0) return end
          break
        }
        default:
          if (bytes[at] !== LF) return BROKEN
          this.state = FIELD_START
          this.firstField = 4
          return at + 1
      }
    }
    return MORE
  }

  #takeVersion(byte: number): number {
    const at = this.#count++
    if (at === VERSION_FORM.length) {
      this.state = VERSION_LF
      if (byte !== CR) return BROKEN
      return this.#major === 1 && this.minor <= 1 ? 0 : BAD_VERSION
    }
    const expected = VERSION_FORM[at]!
    if (expected !== 0) return byte === expected ? 0 : BROKEN
    if (byte < 48 || byte > 57) return BROKEN
    if (at === 5) this.#major = byte - 48
    else this.minor = byte - 48
    return 0
  }
}

/** Returns a shared string for the common methods, so that requests need not keep separate copies. */
function knownMethod(text: string): string {
  switch (text) {
    case 'GET':
      return 'GET'
    case 'POST':
      return 'POST'
    case 'PUT':
      return 'PUT'
    case 'DELETE':
      return 'DELETE'
    case 'PATCH':
      return 'PATCH'
    case 'HEAD':
      return 'HEAD'
    case 'OPTIONS':
      return 'OPTIONS'
    default:
      return text
  }
}
