import { parentPort, workerData } from 'node:worker_threads'
import type { CustomOptions } from './options.js'
import { loadCustomTarget } from './target.js'

// Loads the module of a target and says what is wrong with it, or null.
const problem = await loadCustomTarget(workerData as Pick<CustomOptions, 'module' | 'from'>).then(
  () => null,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
)
parentPort?.postMessage(problem)
