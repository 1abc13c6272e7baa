import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { EarlyWorkers } from './early-workers.js'
import { forkProcess, type WorkerProgram } from './fork-process.js'
import { WORKER_DEADLINES, type WorkerDeadlines, WorkerHandle } from './worker-handle.js'
import type { Fork } from './worker-pool.js'

/** Returns a function that starts workers, or takes those that were started early. */
export function workerFork(
  program: WorkerProgram,
  early: EarlyWorkers | null = null,
  deadlines: WorkerDeadlines = WORKER_DEADLINES,
): Fork {
  const { onOutput } = program
  const secret = randomBytes(32)
  return (...size) => {
    const taken = early?.take(size) ?? null
    const worker = taken?.worker ?? forkProcess(program, size)
    const { stdout, stderr } = worker.process
    for (const input of onOutput === null ? [] : [stdout!, stderr!])
      createInterface({ input }).on('line', onOutput!)
    const handle = new WorkerHandle(worker, deadlines, secret)
    // After the caller has set what the handle does with messages.
    process.nextTick(() => taken?.release())
    return handle
  }
}
