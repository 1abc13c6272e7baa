import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '@sluice/core'
import { type CustomOptions, loadCustomOutput } from './output.js'

// Loads the module of a custom output and posts the reason why it cannot be loaded, or null.
const problem = await loadCustomOutput(workerData as Pick<CustomOptions, 'module' | 'from'>).then(
  () => null,
  (error: unknown) => messageOf(error),
)
parentPort?.postMessage(problem)
