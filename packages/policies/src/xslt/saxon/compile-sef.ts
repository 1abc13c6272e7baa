import { Worker } from 'node:worker_threads'
import type { StylesheetSource } from '../stylesheet-source.js'

/** Longest time for compiling a stylesheet. */
const COMPILE_TIMEOUT_MS = 20_000

/** What the compiling thread answers: the compiled stylesheet as JSON, or what the compiler says. */
export type Compiled = { readonly sef: string } | { readonly problem: string }

/**
 * Compiles a stylesheet of XSLT 2.0 or 3.0 for SaxonJS, on a thread of its own that ends with it: the compiler is a
 * program that keeps global state, and needs a second.
 * @throws Error that says what is wrong with the stylesheet
 */
export async function compileSef(source: StylesheetSource): Promise<string> {
  const thread = new Worker(new URL('./sef-thread.js', import.meta.url), {
    name: 'xslt-compiler',
    workerData: source,
    env: {},
    argv: [],
    execArgv: [],
  })
  try {
    const compiled = await answerOf(thread)
    if ('sef' in compiled) return compiled.sef
    throw new Error(`the stylesheet cannot be compiled: ${compiled.problem}`)
  } finally {
    await thread.terminate()
  }
}

function answerOf(thread: Worker): Promise<Compiled> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('the stylesheet takes too long to compile')),
      COMPILE_TIMEOUT_MS,
    )
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the compiler of XSLT 3.0 ended without an answer')))
    for (const event of ['message', 'error', 'exit']) thread.once(event, () => clearTimeout(timer))
  })
}
