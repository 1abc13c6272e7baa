import { parentPort, workerData } from 'node:worker_threads'
import { type ConfigBundle, loadBodyLanguages } from '@sluice/config'
import { policyMistakes } from '@sluice/gateway/policy-mistakes'
import { catalog } from '@sluice/policies'
import type { TrialReport } from './compile-trial.js'

// Thread that compiles the policies of a document, including those of plugins.
const say = (report: TrialReport): void => parentPort!.postMessage(report)
try {
  const bundle = workerData as ConfigBundle
  await loadBodyLanguages(JSON.stringify(bundle.plan.routes), catalog)
  const announce = async (what: string): Promise<void> => say({ doing: what })
  say({ mistakes: await policyMistakes(bundle, catalog, announce) })
} catch (error) {
  say({ problem: (error as Error).message })
}
