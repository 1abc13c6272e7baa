import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { documentFile } from './documents/document-file.js'
import type { Ports } from './listeners/listener-ports.js'
import { writePrivateFile } from './process/private-file.js'
import { ProcessClock } from './process/process-clock.js'
import { isAlive } from './process/process-stat.js'
import type { Origin } from './rollout/deploy-history.js'

/** State that a supervisor writes for its successor, in case it is killed. */
interface FleetRecord {
  /** Identifies one start of a supervisor. */
  readonly instance: string
  readonly pid: number
  /** Process ids of its workers. */
  readonly workers: readonly number[]
  /** Listener address to real port. */
  readonly ports: Ports
  /** Source of the active document. */
  readonly origin: Origin
  /** True if its parent process is gone. It runs on until another supervisor arrives. */
  readonly isAbandoned: boolean
  /** Instance waiting for this abandoned supervisor to exit, or null. */
  readonly successor: string | null
}

/** Time in milliseconds that orphaned processes keep serving without a new supervisor. */
export const ORPHAN_LIFETIME_MS = 60_000
/** Polling interval of orphaned processes in milliseconds. */
export const POLL_MS = 200
/** Longest wait for an abandoned supervisor to exit, in milliseconds of its CPU time. */
const LEAVE_MS = 5000

/**
 * `fleet-*.json` in the data directory: the supervisor of a document with its workers and ports. Workers
 * outlive a killed supervisor. The next supervisor finds them here and binds the same ports beside them. Once
 * it is serving it writes its own record, and the old workers then drain.
 */
export class FleetFile {
  readonly path: string
  readonly instance = randomUUID()
  #record: FleetRecord
  /** Record whose workers may still hold ports, or null if the last supervisor stopped cleanly. */
  #former: FleetRecord | null = null

  /** @param document path of the document; several gateways may share a data directory. */
  constructor(dataDir: string, document: string) {
    this.path = documentFile(dataDir, 'fleet', document)
    this.#record = {
      instance: this.instance,
      pid: process.pid,
      workers: [],
      ports: {},
      origin: 'file',
      isAbandoned: false,
      successor: null,
    }
  }

  /** Reads the previous record. An abandoned supervisor is first asked to exit. */
  async takeOver(): Promise<void> {
    const last = readRecord(this.path)
    if (last === null) return
    if (last.isAbandoned && isAlive(last.pid)) {
      write(this.path, { ...last, successor: this.instance })
      const clock = new ProcessClock(last.pid)
      while (isAlive(last.pid) && clock.now() < LEAVE_MS) await sleep(POLL_MS)
    }
    if (last.pid === process.pid || !isAlive(last.pid)) this.#former = last
  }

  /** Returns the port on which orphaned workers listen for an address, or null if none do. */
  formerPort(address: string): number | null {
    if (this.#former === null || !this.#former.workers.some(isAlive)) return null
    return this.#former.ports[address] ?? null
  }

  /** True if the last supervisor's active document came from the API, so that the file on disk differs. */
  get wasDeployed(): boolean {
    return this.#former?.origin === 'api'
  }

  /** Records the current state. Does not write if nothing has changed. */
  serve(state: Pick<FleetRecord, 'workers' | 'ports' | 'origin'>): void {
    this.#change(state)
  }

  /** Records that the parent process is gone. */
  abandon(): void {
    this.#change({ isAbandoned: true })
  }

  /** True if another supervisor waits for this one to exit. */
  get hasSuccessor(): boolean {
    return (readRecord(this.path)?.successor ?? null) !== null
  }

  /** Deletes the record on a clean stop: there is nothing to take over. */
  remove(): void {
    if (readRecord(this.path)?.instance === this.instance) discard(this.path)
  }

  #change(change: Partial<FleetRecord>): void {
    const record = { ...this.#record, ...change }
    if (JSON.stringify(record) === JSON.stringify(this.#record)) return
    this.#record = record
    write(this.path, record)
  }
}

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
    const record = readRecord(path)
    if (record !== null && record.instance !== instance) return 'another supervisor serves'
    // The next supervisor has exited already, or cannot write its own record.
    if (record === null && wasThere) return 'the gateway state file has been removed'
    wasThere ||= record !== null
    await sleep(POLL_MS)
  }
  return 'no new supervisor has started'
}

/** Writes the record. A full disk prevents a later takeover but does not stop the gateway. */
function write(path: string, record: FleetRecord): void {
  try {
    writePrivateFile(path, `${JSON.stringify(record)}\n`)
  } catch {
    discard(path)
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The directory is not writable: the next supervisor finds nothing to take over.
  }
}

function readRecord(path: string): FleetRecord | null {
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
