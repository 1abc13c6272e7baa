import { parentPort, workerData } from 'node:worker_threads'
import { type CustomOptions, loadCustomOutput } from './output.js'

// Loads the module of a custom output and posts the reason why it cannot be loaded, or null.
const problem = await loadCustomOutput(workerData as Pick<CustomOptions, 'module' | 'from'>).then(
  () => null,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
)
parentPort?.postMessage(problem)
