import { PHASE_NAMES } from '@sluice/core'
import { SharedTextReader, type TextMemory } from './shared-texts.js'
import { INLINE, KIND, type Template, templateOf } from './template.js'

/** Initial size of the output. It grows if a record needs more. */
const USUAL_BYTES = 256 * 1024
/** Largest size of a number or instant as text, with room to spare. */
const NUMBER_BYTES = 64
const SECOND_LENGTH = 20
const NEWLINE = 10
/** Length up to which a loop copies faster than a native copy. */
const SHORT = 32
/** Last instant with a four-digit year in ISO 8601, in milliseconds since the epoch. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const PHASE_TEXTS = PHASE_NAMES.map((name) => new Uint8Array(Buffer.from(`,"${name}":`, 'latin1')))
const double = new Float64Array(1)
const doubleWords = new Uint32Array(double.buffer)

/**
 * Expands records (see `template.ts`) to lines of JSON. Runs on the log thread. Records come from the request path of the
 * same process, so they are not checked.
 */
export class RecordLines {
  readonly #texts: SharedTextReader<Template>
  #out = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #at = 0
  /** Last second written by `#instant`, and its text. */
  #second = -1
  readonly #secondText = new Uint8Array(SECOND_LENGTH)
  /** The words of the last record's memory as bytes. */
  #words: Uint32Array = new Uint32Array(0)
  #bytes: Uint8Array = new Uint8Array(0)

  /** @param texts Shared texts to which the records refer. */
  constructor(texts: TextMemory) {
    this.#texts = new SharedTextReader(texts, templateOf)
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

  /**
   * Appends a record and a newline. Positions are local variables, because a field would be a load and a store for every
   * byte.
   * @param from Position of its first word, and `to` that after its last.
   */
  append(words: Uint32Array, from: number, to: number): void {
    const bytes = this.#bytesOf(words)
    let out = this.#room(this.#at, NUMBER_BYTES)
    let at = this.#at
    for (let next = from; next < to; ) {
      let template: Template
      const position = words[next++]!
      if (position === INLINE) {
        const length = words[next++]!
        template = templateOf(latin1(bytes, 4 * next, length))
        next += (length + 3) >> 2
      } else template = this.#texts.at(position)
      const { texts, holes } = template
      out = this.#room(at, template.bytes + NUMBER_BYTES)
      at = put(out, at, texts[0]!)
      for (let i = 0; i < holes.length; i++) {
        const { kind, text } = holes[i]!
        let value = words[next++]!
        if (kind === KIND.text) {
          if (value > 0) {
            out = this.#room(at, value + template.bytes + NUMBER_BYTES)
            const start = 4 * next
            if (value > 2 * SHORT) out.set(bytes.subarray(start, start + value), at)
            else for (let k = 0; k < value; k++) out[at + k] = bytes[start + k]!
            at += value
            next += (value + 3) >> 2
          }
        } else {
          if (value === INLINE) {
            value = doubleOf(words[next]!, words[next + 1]!)
            next += 2
          }
          if (kind === KIND.count) at = putCount(out, at, value)
          else if (kind === KIND.micros) at = putMillis(out, at, value)
          else if (kind === KIND.instant) at = this.#putInstant(out, at, value)
          else if (kind !== KIND.phases) {
            if (value > 0) {
              at = put(out, at, text)
              if (kind === KIND.optional) at = putCount(out, at, value)
            }
          } else {
            for (let phase = 0, mask = value; mask > 0; phase++, mask >>= 1) {
              if ((mask & 1) === 0) continue
              let micros = words[next++]!
              if (micros === INLINE) {
                micros = doubleOf(words[next]!, words[next + 1]!)
                next += 2
              }
              at = putMillis(out, put(out, at, PHASE_TEXTS[phase]!), micros)
            }
          }
        }
        at = put(out, at, texts[i + 1]!)
      }
    }
    out[at] = NEWLINE
    this.#at = at + 1
  }

  #bytesOf(words: Uint32Array): Uint8Array {
    if (words !== this.#words) {
      this.#words = words
      this.#bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
    }
    return this.#bytes
  }

  /** Returns an output with this many free bytes after a position. Everything before the position is kept. */
  #room(at: number, bytes: number): Buffer {
    if (at + bytes <= this.#out.length) return this.#out
    const out = Buffer.allocUnsafeSlow(2 * (at + bytes))
    this.#out.copy(out, 0, 0, at)
    this.#out = out
    return out
  }

  /** Writes an instant. One out of range becomes the epoch. */
  #putInstant(out: Uint8Array, at: number, epochMs: number): number {
    const instant = epochMs >= 0 && epochMs <= LAST_MS ? Math.floor(epochMs) : 0
    const second = Math.floor(instant / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText.set(
        Buffer.from(new Date(second * 1000).toISOString().slice(0, SECOND_LENGTH), 'latin1'),
      )
    }
    const end = put(out, at, this.#secondText)
    const ms = instant - second * 1000
    const hundreds = (ms / 100) >>> 0
    const tens = ((ms - hundreds * 100) / 10) >>> 0
    out[end] = 48 + hundreds
    out[end + 1] = 48 + tens
    out[end + 2] = 48 + ms - hundreds * 100 - tens * 10
    out[end + 3] = 90
    return end + 4
  }
}

// These functions write at a position and return the one after it.

function put(out: Uint8Array, at: number, text: Uint8Array): number {
  const { length } = text
  if (length > SHORT) out.set(text, at)
  else for (let i = 0; i < length; i++) out[at + i] = text[i]!
  return at + length
}

function putCount(out: Buffer, at: number, value: number): number {
  if (value < INLINE) return putDigits(out, at, value)
  return at + out.write(value <= Number.MAX_SAFE_INTEGER ? String(value) : '0', at, 'latin1')
}

/** Writes microseconds as milliseconds. */
function putMillis(out: Buffer, at: number, micros: number): number {
  if (micros < INLINE) return putThousandths(out, at, micros)
  return at + out.write(micros <= Number.MAX_SAFE_INTEGER ? String(micros / 1000) : '0', at, 'latin1')
}

function latin1(bytes: Uint8Array, start: number, length: number): string {
  return Buffer.from(bytes.subarray(start, start + length)).toString('latin1')
}

function doubleOf(low: number, high: number): number {
  doubleWords[0] = low
  doubleWords[1] = high
  return double[0]!
}

/** Writes a u32 in decimal. */
function putDigits(out: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    out[at] = 48 + value
    return at + 1
  }
  let digits = 2
  for (let limit = 100; value >= limit; limit *= 10) digits++
  let rest = value
  for (let i = digits - 1; i >= 0; i--) {
    // As unsigned integers, because that is compiled to a multiplication.
    const tenth = (rest / 10) >>> 0
    out[at + i] = 48 + rest - tenth * 10
    rest = tenth
  }
  return at + digits
}

/** Writes a u32 divided by 1000, without trailing zeros. */
function putThousandths(out: Uint8Array, at: number, micros: number): number {
  const whole = (micros / 1000) >>> 0
  let end = putDigits(out, at, whole)
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
