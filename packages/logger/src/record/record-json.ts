import type { Exchange } from '@sluice/core'
import { writeRecord } from './record.js'
import { type RecordEnv, type RecordOptions, recordEnv } from './record-env.js'
import { RecordLines } from './record-lines.js'
import { RecordWriter } from './record-writer.js'

/** Writes records as JSON on the calling thread, for programs that need few of them. */
export class RecordJson {
  readonly #env: RecordEnv
  readonly #writer = new RecordWriter()
  readonly #lines: RecordLines

  constructor(options: RecordOptions) {
    this.#env = recordEnv(options)
    this.#lines = new RecordLines(this.#env.texts.memory)
  }

  /** Returns the record of a finished exchange. */
  of(x: Exchange): Readonly<Record<string, unknown>> {
    if (this.#env.texts.isFull) this.#env.texts.switchHalf()
    this.#writer.begin()
    writeRecord(x, this.#env, this.#writer)
    this.#lines.clear()
    this.#lines.append(this.#writer.words, 0, this.#writer.length)
    return JSON.parse(this.#lines.lines.toString())
  }
}
