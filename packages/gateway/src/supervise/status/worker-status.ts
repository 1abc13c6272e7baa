import { EMPTY_LOG } from '@sluice/core'
import { withoutTakeovers } from '../../telemetry/spool-takeovers.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { WorkerPool } from '../workers/worker-pool.js'
import type { WorkerStatus } from './status.js'

/**
 * Returns the status of every worker: one entry per slot, then the draining ones. The spare is not included.
 */
export function workerStatuses(pool: WorkerPool): WorkerStatus[] {
  const assigned = new Set([pool.spare, ...pool.slots.map((slot) => slot.handle)])
  const leaving = [...pool.live].filter((handle) => !assigned.has(handle))
  const restartsOf = new Map(pool.slots.map((slot) => [slot.worker, slot.restarts]))
  return [
    ...pool.slots.map((slot) => statusOf(slot.worker, slot.handle, slot.state, slot.restarts)),
    ...leaving.map((handle) =>
      statusOf(handle.worker, handle, 'draining', restartsOf.get(handle.worker) ?? 0),
    ),
  ]
}

function statusOf(
  id: number,
  handle: WorkerHandle | null,
  state: WorkerStatus['state'],
  restarts: number,
): WorkerStatus {
  const beat = handle?.lastBeat
  return {
    id,
    pid: handle?.pid ?? null,
    state,
    digest: handle?.digest ?? null,
    inFlight: beat?.inFlight ?? 0,
    connections: beat?.connections ?? 0,
    restarts,
    rssBytes: beat?.rssBytes ?? 0,
    loopLagMs: beat?.loopLagMs ?? 0,
    stateProblem: beat?.stateProblem ?? null,
    uptimeMs: handle === null ? 0 : Math.round(handle.ageMs),
    log: withoutTakeovers(handle?.lastLog ?? EMPTY_LOG),
  }
}
