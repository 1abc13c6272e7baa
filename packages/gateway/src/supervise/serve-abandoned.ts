import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationLog } from '../telemetry/operation-log.js'
import { ORPHAN_LIFETIME_MS, POLL_MS } from '../worker/fleet-record.js'
import type { FleetFile } from './fleet-file.js'
import type { Supervisor } from './supervisor.js'

interface AbandonedOptions {
  readonly fleetFile: Pick<FleetFile, 'abandon' | 'hasSuccessor'>
  readonly log: OperationLog
}

/**
 * Called when the parent process is gone. Keeps serving until another supervisor takes over or the wait
 * times out.
 */
export async function serveAbandoned(
  supervisor: Pick<Supervisor, 'status' | 'drain'>,
  { fleetFile, log }: AbandonedOptions,
): Promise<void> {
  log.warn('supervisor.abandoned', { servesForMs: ORPHAN_LIFETIME_MS })
  fleetFile.abandon()
  for (
    let waitedMs = 0;
    waitedMs < ORPHAN_LIFETIME_MS && !supervisor.status().draining;
    waitedMs += POLL_MS
  ) {
    await sleep(POLL_MS)
    // The workers keep serving until those of the successor do.
    if (fleetFile.hasSuccessor) process.exit(0)
  }
  await supervisor.drain('no new supervisor has started')
}
