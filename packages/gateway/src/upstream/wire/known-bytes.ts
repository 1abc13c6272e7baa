import { READ_BUFFER } from './target-socket.js'

/** The common buffer in words of four bytes, wherever they begin. */
const READ_WORDS = new DataView(READ_BUFFER.buffer)
const WORD = 4
/**
 * The same in pieces of eight where they begin at a multiple of that, as reads do. As numbers they are equal when their
 * bytes are: only zeros have two forms, and a head has none. What is not a number equals nothing, and is read.
 */
const READ_PIECES = new Float64Array(READ_BUFFER.buffer)
const PIECE = 8

/** Bytes that are looked for at the same place of many heads; in the common buffer four or eight at a time. */
export class KnownBytes {
  readonly length: number
  readonly #bytes: Buffer
  /** The same as numbers, without the up to three bytes behind the last whole word. */
  readonly #words: Int32Array
  /** And without the up to seven behind the last whole piece. */
  readonly #pieces: Float64Array

  /** @param bytes are copied. */
  constructor(bytes: Buffer) {
    this.length = bytes.length
    this.#bytes = Buffer.from(bytes)
    const whole = Math.floor(bytes.length / WORD)
    this.#words = Int32Array.from({ length: whole }, (_, i) => bytes.readInt32LE(WORD * i))
    const pieces = Math.floor(bytes.length / PIECE)
    this.#pieces = new Float64Array(Uint8Array.from(bytes.subarray(0, PIECE * pieces)).buffer)
  }

  /** Whether they are the next ones. */
  standAt(bytes: Buffer, from: number, to: number): boolean {
    if (to - from < this.length) return false
    const own = this.#bytes
    let at = 0
    if (bytes === READ_BUFFER) {
      const isAligned = (from & (PIECE - 1)) === 0
      if (!(isAligned ? this.#standsInPieces(from / PIECE) : this.#standsInWords(from))) return false
      at = isAligned ? PIECE * this.#pieces.length : WORD * this.#words.length
    }
    for (; at < own.length; at++) {
      if (bytes[from + at] !== own[at]) return false
    }
    return true
  }

  #standsInPieces(from: number): boolean {
    const pieces = this.#pieces
    for (let i = 0; i < pieces.length; i++) if (READ_PIECES[from + i] !== pieces[i]) return false
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
