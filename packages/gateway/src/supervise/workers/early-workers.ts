import type { Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { packageVersion, workerEntry } from '../../worker/entry.js'
import { documentFile } from '../documents/document-file.js'
import { type ForkSize, forkProcess, type WorkerProgram } from './fork-process.js'
import { BATCH, EARLY_HEAD_BYTES, earlyWorkerCount, type Tier } from './sizing.js'

/** A worker process whose messages are kept until `release` delivers them to its listeners. */
interface EarlyWorker {
  readonly worker: Worker
  readonly release: () => void
}

/**
 * Worker processes that start while the supervisor still loads its modules, because they take as long to start. They do
 * nothing until a handle takes them. This file and its imports load fast for the same reason.
 */
export class EarlyWorkers {
  readonly program: WorkerProgram
  readonly #size: ForkSize
  readonly #waiting: EarlyWorker[]

  /** @param count number of processes to start. */
  constructor(program: WorkerProgram, size: ForkSize, count: number) {
    this.program = program
    this.#size = size
    this.#waiting = Array.from({ length: count }, () => keepMessages(forkProcess(program, size)))
  }

  /** Returns a process with these parameters that has not been taken, or null. */
  take(size: ForkSize): EarlyWorker | null {
    if (String(size) !== String(this.#size)) return null
    const next = this.#waiting.shift() ?? null
    return next?.worker.isDead() ? this.take(size) : next
  }

  /** Kills the processes that nobody has taken. */
  close(): void {
    for (const { worker } of this.#waiting.splice(0)) worker.process.kill('SIGKILL')
  }
}

function keepMessages(worker: Worker): EarlyWorker {
  const kept: unknown[] = []
  const keep = (message: unknown): void => void kept.push(message)
  worker.on('message', keep)
  // Sending to a process that has just died fails here.
  worker.on('error', () => {})
  const release = (): void => {
    worker.off('message', keep)
    for (const message of kept) worker.emit('message', message)
  }
  return { worker, release }
}

/** Options of `gw start` that its first workers depend on. */
export interface EarlyOptions {
  readonly configFile: string | undefined
  readonly dataDir: string
  readonly workers: number | undefined
  readonly tier: Tier | undefined
}

/** Starts the first workers of a supervisor in this process. */
export function startEarlyWorkers({ configFile = '', dataDir, ...size }: EarlyOptions): EarlyWorkers {
  const fleet = { path: documentFile(dataDir, 'fleet', configFile), instance: randomUUID() }
  const program = { entry: workerEntry, version: packageVersion(), nodeOptions: [], fleet, onOutput: null }
  const count = earlyWorkerCount(size)
  return new EarlyWorkers(program, [EARLY_HEAD_BYTES, count, 0], Math.min(count, BATCH))
}
