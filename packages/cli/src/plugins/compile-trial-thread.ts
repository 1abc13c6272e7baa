import { parentPort, workerData } from 'node:worker_threads'
import { type ConfigBundle, loadBodyLanguages } from '@sluice/config'
import { policyMistakes } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import type { TrialReport } from './compile-trial.js'

// Compiles the policies of a document, those of plugins among them.
const say = (report: TrialReport): void => parentPort!.postMessage(report)
try {
  const bundle = workerData as ConfigBundle
  await loadBodyLanguages(JSON.stringify(bundle.plan.routes), catalog)
  const announce = async (what: string): Promise<void> => say({ doing: what })
  say({ mistakes: await policyMistakes(bundle, catalog, announce) })
} catch (error) {
  say({ problem: (error as Error).message })
}
