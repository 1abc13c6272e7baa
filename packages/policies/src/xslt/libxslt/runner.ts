import { failed, type Transformed } from '../../transformed.js'
import { loadLibxml } from '../../xml/libxml.js'
import type { StylesheetSource } from '../stylesheet-source.js'
import { LibxsltEngine, type RunLimits } from './engine.js'

/** What runs of one policy have in common. */
export interface LibxsltConfig {
  readonly source: StylesheetSource
  readonly limits: RunLimits
}

export interface LibxsltInput {
  readonly body: Uint8Array
  /** Names and XPath expressions in turn. */
  readonly params: readonly string[]
}

/** Transforms with libxslt, here or on a thread. A run that broke its engine is followed by one with a new engine. */
export class LibxsltRunner {
  readonly #config: LibxsltConfig
  #engine: LibxsltEngine | null
  #next: Promise<LibxsltEngine> | null = null
  #isClosed = false

  /** @throws Error that says what is wrong with the stylesheet */
  static async create(config: LibxsltConfig): Promise<LibxsltRunner> {
    await loadLibxml()
    return new LibxsltRunner(config, await LibxsltEngine.create(config.source))
  }

  private constructor(config: LibxsltConfig, engine: LibxsltEngine) {
    this.#config = config
    this.#engine = engine
  }

  /** A promise only while a new engine is made. */
  run(input: LibxsltInput): Transformed | Promise<Transformed> {
    if (this.#engine === null && this.#isClosed) return failed('the stylesheet is not in use any more')
    if (this.#engine === null) return this.#renewed().then(() => this.run(input))
    const result = this.#engine.transform(input.body, input.params, this.#config.limits)
    if (!this.#engine.isUsable) this.#engine = null
    return result
  }

  async #renewed(): Promise<void> {
    this.#next ??= LibxsltEngine.create(this.#config.source)
    try {
      const engine = await this.#next
      if (this.#isClosed) engine.close()
      else this.#engine ??= engine
    } finally {
      this.#next = null
    }
  }

  close(): void {
    this.#isClosed = true
    this.#engine?.close()
  }
}
