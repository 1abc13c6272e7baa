import { Memo } from '@sluice/core'
import { jsonText } from './json-text.js'
import { millisText } from './millis-text.js'
import { OP } from './wire-format.js'

/** Initial size of the memory. */
const FIRST_BYTES = 16 * 1024
/** Size of the memory from which it is not kept for the next record. */
const KEPT_BYTES = 1024 ** 2
/** Bytes that texts leave free for the operations after them. */
const SLACK_BYTES = 256
const TEXT_HEAD = 4
/** Length from which a native copy is faster than a loop. */
const LONG = 48
const LARGEST_U32 = 0xffff_ffff
/** Number of names whose bytes are cached, sufficient for those of a large configuration. */
const CACHED_NAMES = 16_384
/** 1 for each Latin-1 character that is not copied to JSON as it is. */
const MUST_ESCAPE = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 32 || code === 34 || code === 92 || code >= 127 ? 1 : 0,
)

/**
 * Writes one record at a time in the form of `wire-format.ts`. Runs on the request path for every request. Memory that
 * is not shared between threads, and loops instead of native copies, are two to three times as fast for short texts.
 */
export class RecordWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** The same memory. */
  #bytes = new Uint8Array(this.#buffer.buffer)
  #words = new Uint32Array(this.#buffer.buffer)
  #at = 0
  readonly #names = new Memo<Uint8Array>(
    CACHED_NAMES,
    (text) => new Uint8Array(Buffer.from(jsonText(text), 'latin1')),
  )

  /** Starts a record. Memory that a large record needed is released. */
  begin(): void {
    this.#at = 0
    if (this.#bytes.length > KEPT_BYTES) this.#allocate(FIRST_BYTES)
  }

  /** Size of the record in bytes. */
  get length(): number {
    return this.#at
  }

  /** The record, as words and as bytes; valid until `begin`. Bytes behind it are arbitrary. */
  get words(): Uint32Array {
    return this.#words
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** Writes a fragment. */
  fragment(fragment: number): void {
    this.#bytes[this.#at++] = fragment
  }

  /** Writes a fragment and a count. A value that is not a count, such as NaN, becomes 0. */
  count(fragment: number, value: number): void {
    this.#bytes[this.#at++] = fragment
    this.countOnly(value)
  }

  countOnly(value: number): void {
    if (value > LARGEST_U32) this.json(value <= Number.MAX_SAFE_INTEGER ? String(value) : '0')
    else this.#number(OP.count, Math.max(value, 0))
  }

  /** Writes a fragment and a duration in milliseconds. */
  millis(fragment: number, ms: number): void {
    this.#bytes[this.#at++] = fragment
    this.millisOnly(ms)
  }

  millisOnly(ms: number): void {
    const micros = Math.round(ms * 1000)
    if (micros > LARGEST_U32) this.json(millisText(ms))
    else this.#number(OP.micros, Math.max(micros, 0))
  }

  /** Writes an instant in milliseconds since the epoch. An instant out of range becomes the epoch. */
  time(epochMs: number): void {
    const instant = epochMs >= 0 && epochMs < LARGEST_U32 * 1000 ? epochMs : 0
    const seconds = Math.floor(instant / 1000)
    this.#number(OP.time, seconds)
    const ms = Math.floor(instant - seconds * 1000)
    this.#bytes[this.#at++] = ms
    this.#bytes[this.#at++] = ms >> 8
  }

  /** Writes the content of a JSON string, escaped where necessary. */
  text(text: string): void {
    const { length } = text
    const start = this.#reserve(length)
    const bytes = this.#bytes
    let unsafe = 0
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      unsafe |= MUST_ESCAPE[code & 255]! | (code >> 8)
      bytes[start + i] = code
    }
    if (unsafe === 0) this.#finishText(start, length)
    else this.json(jsonText(text))
  }

  /** Writes a shared text. */
  reference(position: number): void {
    this.#number(OP.shared, position)
  }

  /** Writes a name from the configuration. Its bytes are cached, so it should be the same string object each time. */
  name(text: string): void {
    this.raw(this.#names.get(text))
  }

  /** Writes JSON in printable ASCII. */
  json(text: string): void {
    const { length } = text
    if (length === 0) return
    const start = this.#reserve(length)
    if (length >= LONG) this.#buffer.write(text, start, 'latin1')
    else {
      const bytes = this.#bytes
      for (let i = 0; i < length; i++) bytes[start + i] = text.charCodeAt(i)
    }
    this.#finishText(start, length)
  }

  /** Writes the bytes of JSON in printable ASCII. */
  raw(text: Uint8Array): void {
    const { length } = text
    const start = this.#reserve(length)
    const bytes = this.#bytes
    if (length >= LONG) bytes.set(text, start)
    else for (let i = 0; i < length; i++) bytes[start + i] = text[i]!
    this.#finishText(start, length)
  }

  /** Returns the position for a text of this length after its head. */
  #reserve(length: number): number {
    const start = this.#at + TEXT_HEAD
    if (start + length + SLACK_BYTES > this.#bytes.length) this.#grow(start + length)
    return start
  }

  #grow(length: number): void {
    const before = this.#buffer
    this.#allocate((2 * (length + SLACK_BYTES)) & -4)
    before.copy(this.#buffer)
  }

  #allocate(size: number): void {
    this.#buffer = Buffer.allocUnsafeSlow(size)
    this.#bytes = new Uint8Array(this.#buffer.buffer)
    this.#words = new Uint32Array(this.#buffer.buffer)
  }

  #finishText(start: number, length: number): void {
    const bytes = this.#bytes
    bytes[start - 4] = OP.text
    bytes[start - 3] = length
    bytes[start - 2] = length >> 8
    bytes[start - 1] = length >> 16
    this.#at = start + length
  }

  #number(op: number, value: number): void {
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = op
    bytes[at + 1] = value
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value >>> 16
    bytes[at + 4] = value >>> 24
    this.#at = at + 5
  }
}
