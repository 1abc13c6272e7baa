import { Replaceable } from '@sluice/policies/engines/deadline/replaceable'
import { TimeLimitExceeded } from '@sluice/policies/engines/deadline/run-with-timeout'
import { failed, type Transformed } from '@sluice/policies/shared/transformation/transformed'
import { loadLibxml } from '../../xml/libxml.js'
import type { RunLimits, StylesheetSource } from '../stylesheet.js'
import { LibxsltEngine } from './engine.js'

/** Stylesheet and limits of one policy. */
export interface LibxsltConfig {
  readonly source: StylesheetSource
  readonly limits: RunLimits
}

/** Input of one transformation. */
export interface LibxsltInput {
  readonly body: Uint8Array
  /** Alternating names and XPath expressions. */
  readonly params: readonly string[]
}

/**
 * Transforms bodies with libxslt, on this thread or on a worker thread. A broken engine is replaced before the next
 * transformation.
 */
export class LibxsltRunner {
  readonly #limits: RunLimits
  readonly #engines: Replaceable<LibxsltEngine>

  /** Compiles the stylesheet. @throws Error that says what is wrong with it */
  static async create({ source, limits }: LibxsltConfig): Promise<LibxsltRunner> {
    await loadLibxml()
    return new LibxsltRunner(limits, await Replaceable.of(() => LibxsltEngine.create(source)))
  }

  private constructor(limits: RunLimits, engines: Replaceable<LibxsltEngine>) {
    this.#limits = limits
    this.#engines = engines
  }

  /** Transforms a body. Returns a promise only while a new engine is being created. */
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
  if (problem instanceof TimeLimitExceeded) return failed('the transformation takes too long')
  return failed('the transformation failed', String(problem))
}
