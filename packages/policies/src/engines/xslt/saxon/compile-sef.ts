import type { StylesheetSource } from '../../../catalog/xslt/stylesheet-source.js'
import type { EngineAnswer } from './engine-main.js'
import { EngineProcess } from './engine-process.js'
import { filesOf } from './files-of.js'

/** Longest time for compiling a stylesheet. */
const COMPILE_TIMEOUT_MS = 20_000
/** Longest explanation that is passed on. */
const MAX_PROBLEM_CHARS = 500

/**
 * Compiles a stylesheet of XSLT 2.0 or 3.0 for SaxonJS, in an engine of its own: static expressions run while it is
 * compiled.
 * @returns the compiled stylesheet, JSON.
 * @throws Error that says what is wrong with the stylesheet
 */
export async function compileSef(source: StylesheetSource): Promise<string> {
  const engine = new EngineProcess()
  try {
    const request = { kind: 'compile', files: filesOf(source, 'xml'), timeoutMs: COMPILE_TIMEOUT_MS } as const
    return sefOf(await engine.ask(request, COMPILE_TIMEOUT_MS))
  } finally {
    engine.close()
  }
}

function sefOf(answer: EngineAnswer): string {
  if (answer.kind === 'compiled') return answer.sef
  throw new Error(`the stylesheet cannot be compiled: ${problemOf(answer)}`)
}

function problemOf(answer: EngineAnswer): string {
  if (answer.kind === 'timeout') return 'it takes too long'
  if (answer.kind !== 'invalid') return 'the compiler does not run'
  return answer.printed.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_PROBLEM_CHARS)
}
