import cluster from 'node:cluster'
import { LEFT_BEHIND_MS, untilSucceeded } from '../supervisor/fleet-file.js'
import { createOperationLog, errorFields, type OperationLog } from '../telemetry/operation-log.js'
import type { DataPlane } from './data-plane.js'
import { FLEET_FILE_ENV, FLEET_INSTANCE_ENV, type ToWorker, WORKER_VERSION_ENV } from './messages.js'
import { type PlaneSurroundings, WorkerLife } from './worker-life.js'

/** What a worker process hands to the data plane it makes. */
export interface WorkerSeat extends PlaneSurroundings {
  /** 1 to N. */
  readonly worker: number
  readonly version: string
  /** Shows operators about an event of this worker. */
  readonly report: (event: string, fields: object) => void
}

/** Time for requests in flight when the supervisor is gone, and the worker has none of its own to give them. */
const ORPHAN_DRAIN_MS = 10_000
/** Time for requests in flight when the worker met an error that nobody caught; its state is no longer trusted. */
const CRASH_DRAIN_MS = 1000

/**
 * Makes this process a worker: it serves what the supervisor asks for and ends when asked to, when the supervisor is
 * gone, or after an error that nobody caught. Call it once, in the entry file of the worker.
 * @throws Error when the process was not started by the supervisor.
 */
export function runWorker(create: (seat: WorkerSeat) => DataPlane): void {
  const seat = cluster.worker
  if (seat === undefined) throw new Error('this file runs as a worker; start the gateway with `gw start`')
  let log = createOperationLog({ fields: { pid: process.pid } })
  const life = new WorkerLife((worker, surroundings) => {
    log = createOperationLog({ fields: { worker, pid: process.pid } })
    const version = process.env[WORKER_VERSION_ENV] ?? ''
    return create({ ...surroundings, worker, version, report: reporter(log) })
  })

  // Whoever read the operation log may be gone; that is no reason to stop serving.
  process.stderr.on('error', () => {})
  // A Ctrl-C reaches every process of the terminal; the supervisor alone decides what it means.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  // The parent of a supervisor that was killed asks its workers to leave by it.
  const told = new AbortController()
  process.on('SIGTERM', () => told.abort())
  seat.on('disconnect', () => {
    // Without this, node:cluster ends the process right after this event, in the middle of its requests.
    seat.exitedAfterDisconnect = true
    void outliveSupervisor(life, log, told.signal)
  })
  const crash = (error: unknown): void => {
    if (!life.isEnding) log.error('worker.crashed', errorFields(error))
    void life.end(CRASH_DRAIN_MS, 1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  process.on('message', (message: ToWorker) => life.hear(message))
  life.begin()
}

/** Goes on serving until the next supervisor does, or none has come for too long. */
async function outliveSupervisor(life: WorkerLife, log: OperationLog, told: AbortSignal): Promise<void> {
  if (!life.isServing) return life.end(ORPHAN_DRAIN_MS, 0)
  const { [FLEET_FILE_ENV]: path = '', [FLEET_INSTANCE_ENV]: instance = '' } = process.env
  log.warn('worker.left-behind', { servesForMs: LEFT_BEHIND_MS })
  log.info('worker.leaves', { because: await untilSucceeded(path, instance, told) })
  await life.end(life.drainMs, 0)
}

function reporter(log: OperationLog): WorkerSeat['report'] {
  return (event, fields) => log.warn(event, { ...fields })
}
