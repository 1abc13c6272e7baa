import type { StylesheetSource } from '../../../catalog/xslt/stylesheet-source.js'
import { failed, type Transformed } from '../../../shared/transformed.js'
import { Replaceable } from '../../deadline/replaceable.js'
import { TimeIsOver } from '../../deadline/run-with-timeout.js'
import { loadLibxml } from '../../xml/libxml.js'
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
  readonly #limits: RunLimits
  readonly #engines: Replaceable<LibxsltEngine>

  /** @throws Error that says what is wrong with the stylesheet */
  static async create({ source, limits }: LibxsltConfig): Promise<LibxsltRunner> {
    await loadLibxml()
    return new LibxsltRunner(limits, await Replaceable.of(() => LibxsltEngine.create(source)))
  }

  private constructor(limits: RunLimits, engines: Replaceable<LibxsltEngine>) {
    this.#limits = limits
    this.#engines = engines
  }

  /** A promise only while a new engine is made. */
  run({ body, params }: LibxsltInput): Transformed | Promise<Transformed> {
    const { timeoutMs, maxOutputBytes } = this.#limits
    try {
      const result = this.#engines.run((engine, factor) =>
        engine.transform(body, params, { timeoutMs: timeoutMs * factor, maxOutputBytes }),
      )
      return result instanceof Promise ? result.catch(failure) : result
    } catch (problem) {
      return failure(problem)
    }
  }

  close(): void {
    this.#engines.close()
  }
}

function failure(problem: unknown): Transformed {
  if (problem instanceof TimeIsOver) return failed('the transformation takes too long')
  return failed('the transformation failed', String(problem))
}
