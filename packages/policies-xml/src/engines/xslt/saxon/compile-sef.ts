import { filesOf, type StylesheetSource } from '../stylesheet.js'
import type { EngineAnswer } from './engine-main.js'
import { EngineProcess } from './engine-process.js'

/** CPU time limit for compiling a stylesheet, in milliseconds. */
const COMPILE_CPU_MS = 20_000
/** Maximum wait as a multiple of the CPU time limit, so that a busy machine does not fail a stylesheet. */
const LONGEST_FACTOR = 10
const WATCH_MS = 250
/** Maximum length of the reported explanation. */
const MAX_PROBLEM_CHARS = 500

/**
 * Compiles a stylesheet of XSLT 2.0 or 3.0 for SaxonJS. Uses a separate engine process, because static expressions
 * run during compilation.
 * @returns the compiled stylesheet as JSON.
 * @throws Error that says what is wrong with the stylesheet
 */
export async function compileSef(source: StylesheetSource, cpuMs = COMPILE_CPU_MS): Promise<string> {
  const engine = new EngineProcess()
  const timeoutMs = cpuMs * LONGEST_FACTOR
  let isTooLong = false
  const watch = setInterval(() => {
    isTooLong = engine.cpuMs() > cpuMs
    if (isTooLong) engine.close()
  }, WATCH_MS)
  try {
    const request = { kind: 'compile', files: filesOf(source, 'xml'), timeoutMs } as const
    return sefOf(await engine.ask(request, timeoutMs))
  } catch (error) {
    throw isTooLong ? problemWith('compiling it takes too long') : error
  } finally {
    clearInterval(watch)
    engine.close()
  }
}

function sefOf(answer: EngineAnswer): string {
  if (answer.kind === 'compiled') return answer.sef
  throw problemWith(problemOf(answer))
}

function problemWith(problem: string): Error {
  return new Error(`the stylesheet cannot be compiled: ${problem}`)
}

function problemOf(answer: EngineAnswer): string {
  if (answer.kind === 'timeout') return 'compiling it takes too long'
  if (answer.kind !== 'invalid') return 'the compiler does not run'
  return answer.printed.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_PROBLEM_CHARS)
}
