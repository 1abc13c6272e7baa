import { READ_BUFFER } from './target-socket.js'

/** The common buffer in words of four bytes, wherever they begin. */
const READ_WORDS = new DataView(READ_BUFFER.buffer)
/** The same where they begin at a multiple of four, as reads do: cheaper, and the same order on all that uWebSockets.js runs on. */
const ALIGNED_WORDS = new Int32Array(READ_BUFFER.buffer)
const WORD = 4

/** Bytes that are looked for at the same place of many heads; in the common buffer four at a time. */
export class KnownBytes {
  readonly length: number
  readonly #bytes: Buffer
  /** The same as numbers, without the up to three bytes behind the last whole word. */
  readonly #words: Int32Array

  /** @param bytes are copied. */
  constructor(bytes: Buffer) {
    this.length = bytes.length
    this.#bytes = Buffer.from(bytes)
    const whole = Math.floor(bytes.length / WORD)
    this.#words = Int32Array.from({ length: whole }, (_, i) => bytes.readInt32LE(WORD * i))
  }

  /** Whether they are the next ones. */
  standAt(bytes: Buffer, from: number, to: number): boolean {
    if (to - from < this.length) return false
    const own = this.#bytes
    let at = 0
    if (bytes === READ_BUFFER) {
      if (!((from & (WORD - 1)) === 0 ? this.#standsAligned(from / WORD) : this.#standsInWords(from)))
        return false
      at = WORD * this.#words.length
    }
    for (; at < own.length; at++) {
      if (bytes[from + at] !== own[at]) return false
    }
    return true
  }

  #standsAligned(from: number): boolean {
    const words = this.#words
    for (let i = 0; i < words.length; i++) if (ALIGNED_WORDS[from + i] !== words[i]) return false
    return true
  }

  #standsInWords(from: number): boolean {
    const words = this.#words
    for (let i = 0, at = from; i < words.length; i++, at += WORD) {
      if (READ_WORDS.getInt32(at, true) !== words[i]) return false
    }
    return true
  }
}
