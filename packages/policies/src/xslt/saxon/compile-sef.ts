import { Worker } from 'node:worker_threads'
import type { StylesheetSource } from '../stylesheet-source.js'

/** Longest time for compiling a stylesheet. */
const COMPILE_TIMEOUT_MS = 20_000

/** Longest explanation that is passed on. */
const MAX_PROBLEM_CHARS = 500

/** What the compiling thread tells: the compiled stylesheet as JSON, or something that the compiler prints. */
export type CompilerMessage = { readonly sef: string } | { readonly said: string }

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
    return await answerOf(thread)
  } finally {
    await thread.terminate()
  }
}

function answerOf(thread: Worker): Promise<string> {
  const said: string[] = []
  return new Promise((resolve, reject) => {
    const fail = (problem: string): void =>
      reject(new Error(`the stylesheet cannot be compiled: ${problem.slice(0, MAX_PROBLEM_CHARS)}`))
    const timer = setTimeout(() => fail('it takes too long'), COMPILE_TIMEOUT_MS)
    thread.on('message', (message: CompilerMessage) => {
      if ('sef' in message) resolve(message.sef)
      else said.push(message.said)
    })
    thread.once('error', reject)
    thread.once('exit', () => {
      clearTimeout(timer)
      fail(said.join(' ').replaceAll(/\s+/g, ' ').trim())
    })
  })
}
