import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '@sluice/core'
import { writeRecord } from '../record/record.js'
import { type RecordEnv, type RecordOptions, recordEnv } from '../record/record-env.js'
import { RecordWriter } from '../record/record-writer.js'
import type { TextMemory } from '../record/shared-texts.js'
import type { RingWriter } from './ring.js'

/**
 * Writes records for all targets with the same options. A record is written at most once in each form, and each target
 * copies it to its ring:
 *
 *     begin ─► encode ─► ring of target 1
 *                   └──► ring of target 2
 */
export class RecordEncoder {
  readonly #env: RecordEnv
  readonly #rings: RingWriter[] = []
  readonly #whole = new RecordWriter()
  readonly #bodiless = new RecordWriter()
  #hasWhole = false
  #hasBodiless = false

  constructor(options: RecordOptions) {
    this.#env = recordEnv(options)
  }

  /** Texts to which the records in the rings refer. */
  get texts(): TextMemory {
    return this.#env.texts.memory
  }

  /** Adds the ring of a target. Call it before the target's first record. */
  addRing(ring: RingWriter): void {
    this.#rings.push(ring)
  }

  /** Starts the next exchange. Its targets then call `encode`. */
  begin(): void {
    this.#hasWhole = false
    this.#hasBodiless = false
    // Not between two targets, because a written record would keep its references.
    if (this.#env.texts.isFull) this.#makeRoom()
  }

  /**
   * Returns the record of the exchange, without its bodies if they make it larger than `maxBytes`. It is valid until
   * the next `begin`. @throws Error if the exchange cannot be written.
   */
  encode(x: Exchange, maxBytes: number): RecordWriter {
    if (!this.#hasWhole) {
      this.#whole.begin()
      writeRecord(x, this.#env, this.#whole)
      this.#hasWhole = true
    }
    if (this.#whole.jsonBytes <= maxBytes || x.record.capture === null) return this.#whole
    if (!this.#hasBodiless) {
      this.#bodiless.begin()
      writeRecord(x, this.#env, this.#bodiless, false)
      this.#hasBodiless = true
    }
    return this.#bodiless
  }

  /** Reuses the other half of the texts, unless a waiting record may refer to it. */
  #makeRoom(): void {
    for (const ring of this.#rings) if (!ring.isMarkPassed) return
    this.#env.texts.switchHalf()
    for (const ring of this.#rings) ring.mark()
  }
}

/** The encoders of a log with several targets. */
export class RecordEncoders {
  readonly #known: { readonly options: RecordOptions; readonly encoder: RecordEncoder }[] = []

  /** Returns the encoder of all targets with these options, creating it if necessary. */
  of(options: RecordOptions): RecordEncoder {
    const known = this.#known.find((one) => isDeepStrictEqual(one.options, options))
    if (known !== undefined) return known.encoder
    const encoder = new RecordEncoder(options)
    this.#known.push({ options, encoder })
    return encoder
  }
}
