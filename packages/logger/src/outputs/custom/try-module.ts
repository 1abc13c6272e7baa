import { Worker } from 'node:worker_threads'
import { messageOf } from '@sluice/core'
import type { CustomOptions } from './output.js'

/** Timeout for loading a module in milliseconds, on a busy machine too. */
const LOAD_MS = 30_000

/**
 * Returns the reason why the module of an output cannot be loaded, or null. Loads it like a gateway does, in
 * a thread without environment variables that is then terminated.
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
    const late = setTimeout(() => resolve(`it did not load within ${LOAD_MS / 1000} s`), LOAD_MS)
    const settle = (problem: string | null): void => {
      clearTimeout(late)
      resolve(problem)
    }
    thread.once('message', settle)
    thread.once('error', (error) => settle(messageOf(error)))
    thread.once('exit', () => settle('it terminated the thread that loaded it'))
  })
}
