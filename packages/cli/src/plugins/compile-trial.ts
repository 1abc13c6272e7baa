import { Worker } from 'node:worker_threads'
import type { ConfigBundle, PolicyMistake } from '@sluice/config'
import type { Catalog } from '@sluice/core'
import { policyMistakes } from '@sluice/gateway/policy-mistakes'
import { EXIT, Failure } from '../output/failure.js'

/** Time limits for starting a thread, and for compiling one policy of a plugin. */
const START_MS = 60_000
const COMPILE_MS = 20_000

/** Messages of the thread: the next step, or the result. */
export type TrialReport =
  | { readonly doing: string }
  | { readonly mistakes: readonly PolicyMistake[] }
  | { readonly problem: string }

/**
 * Returns the policies of a document that do not compile. The catalog contains those of the document. Plugin code runs on a thread, so that it cannot
 * block this command.
 * @throws Failure that names the plugin if it cannot be loaded or hangs
 */
export function mistakesOf(
  bundle: ConfigBundle,
  catalog: Catalog,
  deadlineMs = COMPILE_MS,
): Promise<readonly PolicyMistake[]> {
  return bundle.plan.plugins.length === 0 ? policyMistakes(bundle, catalog) : onThread(bundle, deadlineMs)
}

async function onThread(bundle: ConfigBundle, deadlineMs: number): Promise<readonly PolicyMistake[]> {
  const thread = new Worker(new URL('./compile-trial-thread.js', import.meta.url), {
    workerData: bundle,
    stdout: true,
    stderr: true,
  })
  let doing = 'starting'
  try {
    return await new Promise<readonly PolicyMistake[]>((resolve, reject) => {
      const fail = (problem: string): void => reject(new Failure(problem, EXIT.invalid))
      const giveUpAfter = (ms: number): NodeJS.Timeout =>
        setTimeout(() => fail(`${doing} takes longer than ${ms / 1000} s`), ms)
      let timer = giveUpAfter(START_MS)
      thread.on('message', (report: TrialReport) => {
        if ('doing' in report) {
          doing = report.doing
          clearTimeout(timer)
          timer = giveUpAfter(deadlineMs)
        } else if ('problem' in report) fail(report.problem)
        else resolve(report.mistakes)
      })
      thread.on('error', (error) => fail(`${doing} failed: ${error.message}`))
      thread.on('exit', () => {
        clearTimeout(timer)
        fail(`${doing} ended the process`)
      })
    })
  } finally {
    void thread.terminate()
  }
}
