import { Worker } from 'node:worker_threads'
import type { ConfigBundle, PolicyMistake } from '@sluice/config'
import { policyMistakes } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'

/** What compiling the policies of a document with plugins may take. */
const DEADLINE_MS = 20_000

/** What the thread says: what it is about to run, or what came of it. */
export type TrialReport =
  | { readonly doing: string }
  | { readonly mistakes: readonly PolicyMistake[] }
  | { readonly problem: string }

/**
 * The policies of a document that do not compile. Code of plugins is run on a thread: whatever it does, this command ends.
 * @throws Failure naming the plugin that cannot be loaded or hangs.
 */
export function mistakesOf(bundle: ConfigBundle): Promise<readonly PolicyMistake[]> {
  return bundle.plan.plugins.length === 0 ? policyMistakes(bundle, catalog) : onThread(bundle)
}

async function onThread(bundle: ConfigBundle): Promise<readonly PolicyMistake[]> {
  const thread = new Worker(new URL('./compile-trial-thread.js', import.meta.url), {
    workerData: bundle,
    stdout: true,
    stderr: true,
  })
  let doing = 'starting'
  try {
    return await new Promise<readonly PolicyMistake[]>((resolve, reject) => {
      const fail = (problem: string): void => reject(new Failure(EXIT.invalid, problem))
      const timer = setTimeout(() => fail(`${doing} takes longer than ${DEADLINE_MS / 1000} s`), DEADLINE_MS)
      thread.on('message', (report: TrialReport) => {
        if ('doing' in report) doing = report.doing
        else if ('problem' in report) fail(report.problem)
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
