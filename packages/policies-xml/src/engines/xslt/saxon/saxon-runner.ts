import { failed, type Transformed } from '@sluice/policies/shared/transformation/transformed'
import type { RunLimits } from '../stylesheet.js'
import type { EngineAnswer } from './engine-main.js'
import { EngineEnded, EngineProcess } from './engine-process.js'
import type { CompiledStylesheet } from './sandbox/stylesheet-sandbox.js'
import type { SaxonError, TransformInput } from './sandbox/transform.js'

/** Maximum number of stylesheets that an engine keeps, each in a sandbox of about 10 MB. The oldest one is evicted. */
const MAX_STYLESHEETS = 16

let engine: EngineProcess | null = null
const loaded = new Set<string>()
let nextKey = 1

/** Runs a compiled stylesheet in the engine that all stylesheets of this thread share. */
export class SaxonRunner {
  readonly #stylesheet: CompiledStylesheet
  readonly #key = String(nextKey++)

  constructor(stylesheet: CompiledStylesheet) {
    this.#stylesheet = stylesheet
  }

  async run(
    { text, isJson, params }: Pick<TransformInput, 'isJson' | 'params'> & { readonly text: string },
    { timeoutMs, maxOutputBytes }: RunLimits,
  ): Promise<Transformed> {
    const input = { isJson, params, maxOutputChars: maxOutputBytes }
    try {
      const running = this.#loadInto(current())
      const request = { kind: 'transform', key: this.#key, body: text, input, timeoutMs } as const
      return transformed(await running.ask(request, timeoutMs), maxOutputBytes)
    } catch (problem) {
      if (!(problem instanceof EngineEnded)) throw problem
      return failed('the transformation takes too much memory or time', problem.message)
    }
  }

  /** Loads the stylesheet if necessary. Requests are answered in order, so there is no need to wait. */
  #loadInto(running: EngineProcess): EngineProcess {
    if (loaded.has(this.#key)) return running
    if (loaded.size >= MAX_STYLESHEETS) {
      const [oldest] = loaded
      loaded.delete(oldest!)
      running.ask({ kind: 'forget', key: oldest! }, 0).catch(() => undefined)
    }
    loaded.add(this.#key)
    running.ask({ kind: 'load', key: this.#key, stylesheet: this.#stylesheet }, 0).catch(() => undefined)
    return running
  }
}

/** Returns the engine, or a new one if it has ended. */
function current(): EngineProcess {
  if (engine === null || engine.isEnded) {
    engine = new EngineProcess()
    loaded.clear()
  }
  return engine
}

function transformed(answer: EngineAnswer, maxOutputBytes: number): Transformed {
  if (answer.kind === 'timeout') return failed('the transformation takes too long')
  if (answer.kind === 'error') return failureOf(answer.error)
  if (answer.kind !== 'output') return failed('the transformation failed')
  const output = Buffer.from(answer.text)
  return output.length > maxOutputBytes ? failed('the result is larger than the limit') : output
}

function failureOf({ code, message }: SaxonError): Transformed {
  if (code === 'TOO_LARGE') return failed('the result is larger than the limit')
  if (code === 'STACK') return failed('the stylesheet recurses too deeply')
  // xsl:message with terminate="yes" (XSLT 3.0 section 23.1.1).
  if (code.endsWith('}XTMM9000'))
    return { kind: 'refused', detail: 'the stylesheet does not accept the body' }
  return failed('the stylesheet failed', `${code.replace(/^Q\{[^}]*\}/, '')}: ${message}`)
}
