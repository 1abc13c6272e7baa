import cluster from 'node:cluster'
import { createOperationLog, errorFields, type OperationLog } from '../telemetry/operation-log.js'
import type { DataPlane } from './data-plane.js'
import { hasSuccessor, ORPHAN_LIFETIME_MS, waitForSuccessor } from './fleet-record.js'
import { FLEET_FILE_ENV, FLEET_INSTANCE_ENV, type ToWorker, WORKER_VERSION_ENV } from './messages.js'
import { type PlaneDependencies, WorkerRuntime } from './worker-runtime.js'

/** Dependencies and settings that a worker process passes to its data plane. */
export interface WorkerContext extends PlaneDependencies {
  /** Worker number, from 1 to N. */
  readonly worker: number
  readonly version: string
  /** Logs an event of this worker for operators. */
  readonly report: (event: string, fields: object) => void
}

/** Drain time in milliseconds if the supervisor is gone and the worker is not serving. */
const ORPHAN_DRAIN_MS = 10_000
/** Drain time in milliseconds after an uncaught error, when the worker's state is no longer trusted. */
const CRASH_DRAIN_MS = 1000

/**
 * Turns this process into a worker. It serves the bundles that the supervisor sends. It exits on request, after an
 * uncaught error, or some time after the supervisor is gone. Call it once, in the worker's entry file.
 * @throws Error if the process was not started by the supervisor.
 */
export function runWorker(create: (context: WorkerContext) => DataPlane): void {
  const self = cluster.worker
  if (self === undefined) throw new Error('this file runs as a worker; start the gateway with `gw start`')
  let log = createOperationLog({ fields: { pid: process.pid } })
  const runtime = new WorkerRuntime((worker, dependencies) => {
    log = createOperationLog({ fields: { worker, pid: process.pid } })
    const version = process.env[WORKER_VERSION_ENV] ?? ''
    return create({
      ...dependencies,
      worker,
      version,
      report: (event, fields) => log.warn(event, { ...fields }),
    })
  })

  // The reader of the operation log may be gone. Keep serving.
  process.stderr.on('error', () => {})
  // Ctrl-C reaches every process of the terminal, and `systemctl kill` all of a unit. Only the supervisor acts on it.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
  // The parent of a killed supervisor asks orphaned workers to exit by SIGTERM.
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  self.on('disconnect', () => {
    // Otherwise node:cluster ends the process right after this event, in the middle of its requests.
    self.exitedAfterDisconnect = true
    void outliveSupervisor(runtime, log, stop.signal)
  })
  const crash = (error: unknown): void => {
    if (!runtime.isEnding) log.error('worker.crashed', errorFields(error))
    void runtime.end(CRASH_DRAIN_MS, 1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  process.on('message', (message: ToWorker) => runtime.onMessage(message))
  runtime.begin()
}

/** Keeps serving until the next supervisor takes over or the wait times out. */
async function outliveSupervisor(
  runtime: WorkerRuntime,
  log: OperationLog,
  stopSignal: AbortSignal,
): Promise<void> {
  const { [FLEET_FILE_ENV]: path = '', [FLEET_INSTANCE_ENV]: instance = '' } = process.env
  // Without a file the worker belongs to an embedded gateway, which ends with its program.
  if (!runtime.isServing || path === '') return runtime.end(ORPHAN_DRAIN_MS, 0)
  log.warn('worker.left-behind', { servesForMs: ORPHAN_LIFETIME_MS })
  log.info('worker.leaves', { because: await waitForSuccessor(path, instance, stopSignal) })
  await runtime.end(runtime.drainMs, 0, hasSuccessor(path, instance))
}
