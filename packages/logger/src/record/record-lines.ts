import './fragments.js'
import { SharedTextReader, type TextMemory } from './shared-texts.js'
import { fragmentBytes, OP } from './wire-format.js'

/** Initial size of the output. It grows if a record needs more. */
const USUAL_BYTES = 256 * 1024
/** Largest size of a number or instant as text, with room to spare. */
const NUMBER_BYTES = 32
const SECOND_LENGTH = 20
const NEWLINE = 10
const SHORT = 32

/**
 * Expands records from the form of `wire-format.ts` to lines of JSON. Runs on the log thread. The bytes come from the
 * request path of the same process, so they are not checked.
 */
export class RecordLines {
  readonly #texts: SharedTextReader
  readonly #fragments = fragmentBytes()
  #out = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #at = 0
  /** Last second written by `#time`, and its text. */
  #second = -1
  readonly #secondText = new Uint8Array(SECOND_LENGTH)

  /** @param texts Shared texts to which the records refer. */
  constructor(texts: TextMemory) {
    this.#texts = new SharedTextReader(texts)
  }

  /** The lines since `clear`; valid until the next change. */
  get lines(): Buffer {
    return this.#out.subarray(0, this.#at)
  }

  get length(): number {
    return this.#at
  }

  clear(): void {
    this.#at = 0
  }

  /** Appends a record and a newline. @param from Position of its first operation in `bytes`. */
  append(bytes: Uint8Array, from: number, to: number): void {
    let out = this.#room(0, NUMBER_BYTES)
    let at = this.#at
    for (let i = from; i < to; ) {
      const op = bytes[i++]!
      if (at + NUMBER_BYTES > out.length) out = this.#room(at, NUMBER_BYTES)
      if (op < OP.text) {
        const text = this.#fragments[op]!
        const { length } = text
        for (let k = 0; k < length; k++) out[at + k] = text[k]!
        at += length
      } else if (op === OP.text) {
        const length = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16)
        i += 3
        if (at + length + NUMBER_BYTES > out.length) out = this.#room(at, length + NUMBER_BYTES)
        if (length > 2 * SHORT) out.set(bytes.subarray(i, i + length), at)
        else for (let k = 0; k < length; k++) out[at + k] = bytes[i + k]!
        i += length
        at += length
      } else {
        const value = (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)) >>> 0
        i += 4
        if (op === OP.shared) {
          const text = this.#texts.at(value)
          const { length } = text
          if (at + length + NUMBER_BYTES > out.length) out = this.#room(at, length + NUMBER_BYTES)
          if (length > SHORT) out.set(text, at)
          else for (let k = 0; k < length; k++) out[at + k] = text[k]!
          at += length
        } else if (op === OP.count) at = writeCount(out, at, value)
        else if (op === OP.micros) at = writeMillis(out, at, value)
        else {
          at = this.#time(out, at, value, bytes[i]! | (bytes[i + 1]! << 8))
          i += 2
        }
      }
    }
    out[at] = NEWLINE
    this.#at = at + 1
  }

  /** Returns an output with this many free bytes after a position. Everything before the position is kept. */
  #room(at: number, bytes: number): Buffer {
    const used = Math.max(at, this.#at)
    if (used + bytes <= this.#out.length) return this.#out
    const out = Buffer.allocUnsafeSlow(2 * (used + bytes))
    this.#out.copy(out, 0, 0, used)
    this.#out = out
    return out
  }

  #time(out: Uint8Array, at: number, second: number, ms: number): number {
    if (second !== this.#second) {
      this.#second = second
      this.#secondText.set(
        Buffer.from(new Date(second * 1000).toISOString().slice(0, SECOND_LENGTH), 'latin1'),
      )
    }
    out.set(this.#secondText, at)
    const hundreds = Math.floor(ms / 100)
    const tens = Math.floor((ms - hundreds * 100) / 10)
    out[at + SECOND_LENGTH] = 48 + hundreds
    out[at + SECOND_LENGTH + 1] = 48 + tens
    out[at + SECOND_LENGTH + 2] = 48 + ms - hundreds * 100 - tens * 10
    out[at + SECOND_LENGTH + 3] = 90
    return at + SECOND_LENGTH + 4
  }
}

/** Writes a u32 in decimal. Returns the position after it. */
function writeCount(out: Uint8Array, at: number, value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  let rest = value
  for (let i = digits - 1; i >= 0; i--) {
    // As unsigned integers, because that is compiled to a multiplication.
    const tenth = (rest / 10) >>> 0
    out[at + i] = 48 + rest - tenth * 10
    rest = tenth
  }
  return at + digits
}

/** Writes microseconds as milliseconds, without trailing zeros. */
function writeMillis(out: Uint8Array, at: number, micros: number): number {
  const whole = (micros / 1000) >>> 0
  let end = writeCount(out, at, whole)
  let rest = micros - whole * 1000
  if (rest === 0) return end
  out[end++] = 46
  for (let unit = 100; rest > 0; unit /= 10) {
    const digit = (rest / unit) >>> 0
    out[end++] = 48 + digit
    rest -= digit * unit
  }
  return end
}
