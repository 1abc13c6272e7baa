import { Worker } from 'node:worker_threads'
import type { CustomOptions } from './output.js'

/** A module that is not loaded by then never will be, ms. */
const LOAD_MS = 10_000

/**
 * Why the module of an output cannot be loaded, or null. It is loaded as a gateway would, in a thread without environment
 * variables, which ends whatever the module has begun.
 */
export async function customOutputProblem(
  options: Pick<CustomOptions, 'module' | 'from'>,
): Promise<string | null> {
  const { module, from } = options
  const thread = new Worker(new URL('./load-thread.js', import.meta.url), {
    workerData: { module, from },
    env: {},
    stdout: true,
    stderr: true,
  })
  try {
    return await answerOf(thread)
  } finally {
    await thread.terminate()
  }
}

function answerOf(thread: Worker): Promise<string | null> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(`it is not loaded within ${LOAD_MS / 1000} s`), LOAD_MS)
    const settle = (problem: string | null): void => {
      clearTimeout(late)
      resolve(problem)
    }
    thread.once('message', settle)
    thread.once('error', (error) => settle(error instanceof Error ? error.message : String(error)))
    thread.once('exit', () => settle('it ends the thread that it is loaded in'))
  })
}
