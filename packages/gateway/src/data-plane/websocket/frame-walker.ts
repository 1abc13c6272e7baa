import { isUtf8 } from 'node:buffer'
import { OPCODE, unmask } from './frames.js'

/** What is wrong with a frame, as a close code (RFC 6455 section 7.4.1); 0: nothing. */
export const PROTOCOL_ERROR = 1002
const BAD_TEXT = 1007
export const TOO_MANY = 1008
export const TOO_LARGE = 1009
/** A close frame without a code. */
const NO_CODE = 1005

/** The next frame has not come as far as it must have to go on. */
const MORE = -1

const FINAL = 0x80
const RESERVED = 0x70
const COMPRESSED = 0x40
const MASKED = 0x80
/** Of the high half of a length: what would be no exact integer, and no sane message. */
const MAX_HIGH = 0x1f_ffff

export interface WalkerOptions {
  /** Frames must be masked: a client sends them. Else they must not be. */
  readonly isMasked: boolean
  /** Messages may be compressed: permessage-deflate was agreed (RFC 7692). */
  readonly isCompressible: boolean
  /** Largest message, in bytes. */
  readonly maxMessage: number
}

/**
 * Follows the frames in the bytes of one side (RFC 6455 section 5.2), without a copy of them:
 *
 *     FIN RSV opcode │ MASK length │ length 16 or 64 │ mask │ payload
 *
 * What it lets pass is whole up to the head of a frame, so that another frame can stand behind it whenever `isBetween`.
 * Texts are not checked for UTF-8: the other side does.
 */
export class FrameWalker {
  /** Messages that have begun. */
  messages = 0
  /** Messages, control frames and empty fragments that may still begin. */
  allowance = Number.POSITIVE_INFINITY
  /** The close code that stands for what is wrong with the next frame; 0: nothing. */
  problem = 0
  /** The close frame has come. */
  isClosed = false
  closeCode = NO_CODE
  readonly #options: WalkerOptions
  /** Bytes of the current payload that are still to come. */
  #left = 0
  /** Of the message so far. */
  #messageBytes = 0
  /** A message has begun whose last fragment has not come. */
  #isFragmented = false

  constructor(options: WalkerOptions) {
    this.#options = options
  }

  /** All of the frames that began has come. */
  get isBetween(): boolean {
    return this.#left === 0
  }

  /**
   * Goes on from a place. Answers how far the bytes are good to go on; what stands behind has to come again with more bytes,
   * unless there is a problem or the close frame has come.
   */
  walk(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to) {
      if (this.#left > 0) {
        const part = Math.min(this.#left, to - at)
        this.#left -= part
        at += part
        continue
      }
      const next = this.#enter(bytes, at, to)
      if (next < 0) return at
      at = next
      if (this.isClosed) return at
    }
    return at
  }

  /** Reads the head of a frame. Answers where its payload begins; of a close frame where it ends. */
  #enter(bytes: Buffer, at: number, to: number): number {
    if (to - at < 2) return MORE
    const first = bytes[at]!
    const second = bytes[at + 1]!
    const opcode = first & 15
    const short = second & 127
    if (second >= MASKED !== this.#options.isMasked || !this.#isInOrder(first, opcode, short))
      return this.#fail(PROTOCOL_ERROR)
    const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (this.#options.isMasked ? 4 : 0)
    if (start > to) return MORE
    const length = short < 126 ? short : this.#longLength(bytes, at + 2, short)
    if (length < 0) return length
    if (opcode === OPCODE.close) return this.#close(bytes, start, start + length, to)
    return this.#count(first, opcode, length) ? this.#begin(start, length) : MORE
  }

  #begin(start: number, length: number): number {
    this.#left = length
    return start
  }

  /** Whether a frame of that kind may stand here. */
  #isInOrder(first: number, opcode: number, short: number): boolean {
    const reserved = first & RESERVED
    if (opcode >= OPCODE.close)
      return opcode <= OPCODE.pong && first >= FINAL && reserved === 0 && short < 126
    if (opcode > OPCODE.binary || (opcode !== OPCODE.continuation) === this.#isFragmented) return false
    if (reserved === 0) return true
    return reserved === COMPRESSED && this.#options.isCompressible && opcode !== OPCODE.continuation
  }

  /** A length of 16 or 64 bits, which has to need them. */
  #longLength(bytes: Buffer, at: number, short: number): number {
    if (short === 126) {
      const length = bytes.readUInt16BE(at)
      return length < 126 ? this.#fail(PROTOCOL_ERROR) : length
    }
    const high = bytes.readUInt32BE(at)
    const length = high * 2 ** 32 + bytes.readUInt32BE(at + 4)
    if (high >= 2 ** 31 || length < 65_536) return this.#fail(PROTOCOL_ERROR)
    return high > MAX_HIGH ? this.#fail(TOO_LARGE) : length
  }

  /** Counts what begins here. False: it may not. */
  #count(first: number, opcode: number, length: number): boolean {
    const isFinal = first >= FINAL
    // Empty fragments would come for nothing: no size bounds them.
    const isCounted = opcode !== OPCODE.continuation || (length === 0 && !isFinal)
    if (isCounted && --this.allowance < 0) return this.#refuse(TOO_MANY)
    if (opcode >= OPCODE.close) return true
    if (opcode !== OPCODE.continuation) {
      this.messages++
      this.#messageBytes = 0
    }
    this.#messageBytes += length
    this.#isFragmented = !isFinal
    return this.#messageBytes <= this.#options.maxMessage || this.#refuse(TOO_LARGE)
  }

  /** Reads a close frame once it has come whole (RFC 6455 section 5.5.1). */
  #close(bytes: Buffer, start: number, end: number, to: number): number {
    if (end > to) return MORE
    if (end - start === 1) return this.#fail(PROTOCOL_ERROR)
    if (end > start) {
      const frame = Buffer.from(bytes.subarray(start - 4 * Number(this.#options.isMasked), end))
      if (this.#options.isMasked) unmask(frame, 4, frame.length)
      const payload = frame.subarray(this.#options.isMasked ? 4 : 0)
      const code = payload.readUInt16BE()
      if (!isCloseCode(code)) return this.#fail(PROTOCOL_ERROR)
      if (!isUtf8(payload.subarray(2))) return this.#fail(BAD_TEXT)
      this.closeCode = code
    }
    this.isClosed = true
    return end
  }

  #fail(problem: number): number {
    this.problem = problem
    return MORE
  }

  #refuse(problem: number): boolean {
    this.problem = problem
    return false
  }
}

/** Codes that may stand in a frame (RFC 6455 section 7.4 and its registry). */
function isCloseCode(code: number): boolean {
  if (code < 1000 || code > 4999) return false
  if (code >= 3000) return true
  return code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006
}
