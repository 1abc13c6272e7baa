import { isUtf8 } from 'node:buffer'
import { OPCODE, unmask } from './frames.js'

/** Close code for a protocol error (RFC 6455 section 7.4.1). */
export const PROTOCOL_ERROR = 1002
const BAD_TEXT = 1007
/** Close code for too many messages. */
export const TOO_MANY = 1008
/** Close code for a message that is too large. */
export const TOO_LARGE = 1009
/** Stands for a close frame without a code. */
const NO_CODE = 1005

/** The head of the next frame is incomplete. */
const MORE = -1

const FINAL = 0x80
const RESERVED = 0x70
const COMPRESSED = 0x40
const MASKED = 0x80
/** Largest high half of a 64-bit length. A greater length would not be an exact integer. */
const MAX_HIGH = 0x1f_ffff

interface WalkerOptions {
  /** True if frames must be masked, as those of a client; otherwise they must not be. */
  readonly isMasked: boolean
  /** True if messages may be compressed because permessage-deflate was negotiated (RFC 7692). */
  readonly isCompressible: boolean
  /** Maximum message size in bytes. */
  readonly maxMessageBytes: number
}

/**
 * Follows the frames in the bytes of one side (RFC 6455 section 5.2) without copying them:
 *
 *     FIN RSV opcode │ MASK length │ length 16 or 64 │ mask │ payload
 *
 * The bytes it passes always contain complete frame heads, so another frame can be inserted whenever `isBetween` is
 * true. UTF-8 in text messages is not validated; the receiver does that.
 */
export class FrameWalker {
  /** Number of messages started. */
  messages = 0
  /** Number of messages, control frames and empty fragments that may still start. */
  allowance = Number.POSITIVE_INFINITY
  /** Close code for the error in the next frame, or 0 if there is no error. */
  problem = 0
  /** True once the close frame has been received. */
  isClosed = false
  closeCode = NO_CODE
  readonly #options: WalkerOptions
  /** Bytes of the current payload still to come. */
  #left = 0
  /** Size of the current message so far, in bytes. */
  #messageBytes = 0
  /** True if a message has started and its last fragment has not. */
  #isFragmented = false

  constructor(options: WalkerOptions) {
    this.#options = options
  }

  /** True if the bytes so far end at a frame boundary. */
  get isBetween(): boolean {
    return this.#left === 0
  }

  /**
   * Continues at `from` and returns the end of the bytes that may be forwarded. Pass the rest again with more bytes,
   * unless there is a problem or the close frame has been received.
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

  /** Reads the head of a frame. Returns the position of its payload, or for a close frame the position after it. */
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

  /** Returns true if a frame of this kind is valid here. */
  #isInOrder(first: number, opcode: number, short: number): boolean {
    const reserved = first & RESERVED
    if (opcode >= OPCODE.close)
      return opcode <= OPCODE.pong && first >= FINAL && reserved === 0 && short < 126
    if (opcode > OPCODE.binary || (opcode !== OPCODE.continuation) === this.#isFragmented) return false
    if (reserved === 0) return true
    return reserved === COMPRESSED && this.#options.isCompressible && opcode !== OPCODE.continuation
  }

  /** Reads a 16-bit or 64-bit length. The shortest encoding is required. */
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

  /** Counts the frame against the limits. Returns false if it exceeds one. */
  #count(first: number, opcode: number, length: number): boolean {
    const isFinal = first >= FINAL
    // Empty fragments count too, because no size limit bounds them.
    const isCounted = opcode !== OPCODE.continuation || (length === 0 && !isFinal)
    if (isCounted && --this.allowance < 0) return this.#refuse(TOO_MANY)
    if (opcode >= OPCODE.close) return true
    if (opcode !== OPCODE.continuation) {
      this.messages++
      this.#messageBytes = 0
    }
    this.#messageBytes += length
    this.#isFragmented = !isFinal
    return this.#messageBytes <= this.#options.maxMessageBytes || this.#refuse(TOO_LARGE)
  }

  /** Reads a close frame once it is complete (RFC 6455 section 5.5.1). */
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

/** Returns true if the code may appear in a frame (RFC 6455 section 7.4 and its IANA registry). */
function isCloseCode(code: number): boolean {
  if (code < 1000 || code > 4999) return false
  if (code >= 3000) return true
  return code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006
}
