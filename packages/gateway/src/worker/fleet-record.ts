import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** State that a supervisor writes for its successor, in case it is killed. */
export interface FleetRecord {
  /** Identifies one start of a supervisor. */
  readonly instance: string
  readonly pid: number
  /** Process ids of its workers. */
  readonly workers: readonly number[]
  /** Listener address to real port. */
  readonly ports: Readonly<Record<string, number>>
  /** Source of the active document. */
  readonly origin: 'file' | 'api' | 'last-good' | 'control'
  /** True if its parent process is gone. It runs on until another supervisor arrives. */
  readonly isAbandoned: boolean
  /** Instance waiting for this abandoned supervisor to exit, or null. */
  readonly successor: string | null
}

/** Time in milliseconds that orphaned processes keep serving without a new supervisor. */
export const ORPHAN_LIFETIME_MS = 60_000
/** Polling interval of orphaned processes in milliseconds. */
export const POLL_MS = 200
/**
 * Waits in an orphaned worker until another supervisor serves, the gateway stops, or `ORPHAN_LIFETIME_MS` pass.
 * Returns the reason to exit.
 */
export async function waitForSuccessor(
  path: string,
  instance: string,
  stopSignal: AbortSignal,
): Promise<string> {
  let wasThere = false
  for (let waitedMs = 0; waitedMs < ORPHAN_LIFETIME_MS; waitedMs += POLL_MS) {
    if (stopSignal.aborted) return 'another supervisor has taken over, or the gateway is stopping'
    const record = readFleetRecord(path)
    if (record !== null && record.instance !== instance) return 'another supervisor serves'
    // The next supervisor has exited already, or cannot write its own record.
    if (record === null && wasThere) return 'the gateway state file has been removed'
    wasThere ||= record !== null
    await sleep(POLL_MS)
  }
  return 'no new supervisor has started'
}

/** Returns true if another supervisor serves in place of this one. */
export function hasSuccessor(path: string, instance: string): boolean {
  const record = readFleetRecord(path)
  return record !== null && record.instance !== instance
}

/** Reads a record. Returns null if there is none, or if it is incomplete. */
export function readFleetRecord(path: string): FleetRecord | null {
  try {
    const { instance, pid, workers, ports, origin, ...rest } = JSON.parse(
      readFileSync(path, 'utf8'),
    ) as FleetRecord
    const isWhole = typeof instance === 'string' && Number.isInteger(pid) && Array.isArray(workers)
    if (!isWhole || typeof ports !== 'object' || ports === null) return null
    const { isAbandoned, successor = null } = rest
    return { instance, pid, workers, ports, origin, isAbandoned, successor }
  } catch {
    return null
  }
}
