import { VALUE_BYTES } from '../../protocol/http1/byte-classes.js'
import { BROKEN, FIELD_START, MessageHead, MORE } from '../../protocol/http1/message-head.js'

const CR = 13
const LF = 10
const SPACE = 32

// Parser states for the status line.
const START = 0
const VERSION = 1
const STATUS = 2
const REASON = 3
const STATUS_LF = 4

const VERSION_PREFIX = 'HTTP/1.'

/**
 * Parser for the head of a response:
 *
 *     HTTP/1.1 200 OK CR LF   fields   CR LF
 *     version  status reason
 */
export class ResponseHead extends MessageHead {
  status = 0
  /** Minor version: 1 for HTTP/1.1, 0 for HTTP/1.0. */
  minor = 1
  protected override readonly skipsSpaceAfterName = true
  /** Number of bytes of the current version or status read. */
  #count = 0

  override begin(): void {
    super.begin()
    this.status = 0
    this.#count = 0
  }

  protected override scanStartLine(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!
      switch (this.state) {
        case START:
          // Some servers end the previous body with an extra line end, which is ignored.
          if (byte === CR || byte === LF) break
          this.state = VERSION
          if (!this.#takeVersion(byte)) return BROKEN
          break
        case VERSION:
          if (!this.#takeVersion(byte)) return BROKEN
          break
        case STATUS:
          if (!this.#takeStatus(byte)) return BROKEN
          break
        case REASON:
          if (byte === CR) this.state = STATUS_LF
          else if (VALUE_BYTES[byte] !== 1) return BROKEN
          break
        default:
          if (byte !== LF) return BROKEN
          this.state = FIELD_START
          return at + 1
      }
    }
    return MORE
  }

  /** Parses `HTTP/1.`, the minor version and a space. */
  #takeVersion(byte: number): boolean {
    const at = this.#count++
    if (at < VERSION_PREFIX.length) return byte === VERSION_PREFIX.charCodeAt(at)
    if (at === VERSION_PREFIX.length) {
      this.minor = byte - 48
      return this.minor === 0 || this.minor === 1
    }
    this.state = STATUS
    this.#count = 0
    return byte === SPACE
  }

  /** Parses three digits, then a space or the end of the line. */
  #takeStatus(byte: number): boolean {
    if (this.#count++ < 3) {
      this.status = this.status * 10 + byte - 48
      return byte >= 48 && byte <= 57
    }
    this.state = byte === CR ? STATUS_LF : REASON
    return byte === CR || byte === SPACE
  }
}
