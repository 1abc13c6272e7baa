import { jsonText } from './json-text.js'
import { NO_REFERENCE } from './shared-texts.js'
import { INLINE } from './template.js'

/** Initial size of the memory, in bytes. */
const FIRST_BYTES = 16 * 1024
/** Size of the memory from which it is not kept for the next record, in bytes. */
const KEPT_BYTES = 1024 ** 2
/** Bytes that texts leave free for the numbers after them. */
const SLACK_BYTES = 256
/** Length from which a native copy is faster than a loop. */
const LONG = 48
/** 1 for each Latin-1 character that is not copied to JSON as it is. */
const MUST_ESCAPE = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 32 || code === 34 || code === 92 || code >= 127 ? 1 : 0,
)
const double = new Float64Array(1)
const doubleWords = new Uint32Array(double.buffer)

/**
 * Writes one record at a time, as described in `template.ts`. Runs on the request path for every request. Memory that is
 * not shared between threads is about twice as fast for short texts.
 */
export class RecordWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** The same memory. */
  #bytes = new Uint8Array(this.#buffer.buffer)
  #words = new Uint32Array(this.#buffer.buffer)
  /** Number of words written. */
  #at = 0
  #templateBytes = 0

  /** Starts a record. Memory that a large record needed is released. */
  begin(): void {
    this.#at = 0
    this.#templateBytes = 0
    if (this.#bytes.length > KEPT_BYTES) this.#allocate(FIRST_BYTES)
  }

  /** Size of the record in words. */
  get length(): number {
    return this.#at
  }

  /** Size of the record as JSON in bytes, at most a few hundred off. */
  get jsonBytes(): number {
    return 4 * this.#at + this.#templateBytes
  }

  /** The record; valid until `begin`. Words behind it are arbitrary. */
  get words(): Uint32Array {
    return this.#words
  }

  /** Writes a template. @param position Its position in the shared texts, or `NO_REFERENCE`. */
  template(position: number, text: string): void {
    this.#templateBytes += text.length
    if (position === NO_REFERENCE) {
      this.#words[this.#at++] = INLINE
      this.json(text)
    } else this.#words[this.#at++] = position
  }

  /** Writes a number. One that is no count, such as NaN, becomes 0. */
  count(value: number): void {
    if (value >= INLINE) this.#large(value)
    else this.#words[this.#at++] = Math.max(value, 0)
  }

  /** Writes a duration in milliseconds. */
  millis(ms: number): void {
    this.count(Math.round(ms * 1000))
  }

  /** Writes milliseconds since the epoch. */
  instant(epochMs: number): void {
    this.#large(epochMs)
  }

  /** Writes the content of a JSON string, escaped where necessary. */
  text(text: string): void {
    const { length } = text
    const start = this.#reserve(length)
    const bytes = this.#bytes
    const mustEscape = MUST_ESCAPE
    let unsafe = 0
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      unsafe |= mustEscape[code & 255]! | (code >> 8)
      bytes[start + i] = code
    }
    if (unsafe === 0) this.#finishText(length)
    else this.json(jsonText(text))
  }

  /** Writes JSON in printable ASCII. */
  json(text: string): void {
    const { length } = text
    const start = this.#reserve(length)
    if (length >= LONG) this.#buffer.write(text, start, 'latin1')
    else {
      const bytes = this.#bytes
      for (let i = 0; i < length; i++) bytes[start + i] = text.charCodeAt(i)
    }
    this.#finishText(length)
  }

  /** Returns the position in bytes for a text of this length after its head. */
  #reserve(length: number): number {
    const start = 4 * (this.#at + 1)
    if (start + length + SLACK_BYTES > this.#bytes.length) this.#grow(start + length)
    return start
  }

  #grow(bytes: number): void {
    const before = this.#buffer
    this.#allocate(2 * (bytes + SLACK_BYTES))
    before.copy(this.#buffer)
  }

  #allocate(bytes: number): void {
    this.#buffer = Buffer.allocUnsafeSlow((bytes + 7) & -8)
    this.#bytes = new Uint8Array(this.#buffer.buffer)
    this.#words = new Uint32Array(this.#buffer.buffer)
  }

  #finishText(length: number): void {
    this.#words[this.#at] = length
    this.#at += 1 + ((length + 3) >> 2)
  }

  #large(value: number): void {
    double[0] = value
    this.#words[this.#at] = INLINE
    this.#words[this.#at + 1] = doubleWords[0]!
    this.#words[this.#at + 2] = doubleWords[1]!
    this.#at += 3
  }
}
