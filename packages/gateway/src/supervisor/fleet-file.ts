import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Origin } from './deploy-history.js'
import { documentFile } from './document-file.js'
import type { Ports } from './listener-ports.js'
import { writePrivateFile } from './private-file.js'
import { ProcessClock } from './process-clock.js'
import { isAlive } from './process-stat.js'

/** What a supervisor writes down for the one that comes after it, should it be killed. */
interface FleetRecord {
  /** Which start of a supervisor this is. */
  readonly instance: string
  readonly pid: number
  /** Of its workers. */
  readonly workers: readonly number[]
  /** Listener address to real port. */
  readonly ports: Ports
  /** Where the document came from that serves. */
  readonly origin: Origin
  /** The process that started it is gone; it goes on until another supervisor comes. */
  readonly isAbandoned: boolean
  /** The supervisor that waits for an abandoned one to leave; null while none does. */
  readonly successor: string | null
}

/** How long processes that were left behind go on serving while no supervisor comes, in milliseconds. */
export const LEFT_BEHIND_MS = 60_000
/** How often those look for one. */
export const LOOK_MS = 200
/** Longest wait for an abandoned supervisor to leave, in milliseconds of its own time: it may wait for a CPU. */
const LEAVE_MS = 5000

/**
 * `fleet-*.json` in the data directory says which supervisor serves a document, with which workers and ports. Its workers
 * outlive a supervisor that is killed. The next one finds them here and takes their ports beside them; when it serves, it
 * writes itself here, which is what they wait for to drain.
 */
export class FleetFile {
  readonly path: string
  readonly instance = randomUUID()
  #record: FleetRecord
  /** Whose workers may still hold ports; null when the last supervisor ended by itself. */
  #former: FleetRecord | null = null

  /** @param document its path; several gateways may share a data directory. */
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

  /** Looks who was here before. A supervisor whose parent is gone makes room first. */
  async takeOver(): Promise<void> {
    const last = readRecord(this.path)
    if (last === null) return
    if (last.isAbandoned && isAlive(last.pid)) {
      write(this.path, { ...last, successor: this.instance })
      const clock = new ProcessClock(last.pid)
      while (isAlive(last.pid) && clock.now() < LEAVE_MS) await sleep(LOOK_MS)
    }
    if (last.pid === process.pid || !isAlive(last.pid)) this.#former = last
  }

  /** The port of an address that workers left behind listen on; null when none do. */
  formerPort(address: string): number | null {
    if (this.#former === null || !this.#former.workers.some(isAlive)) return null
    return this.#former.ports[address] ?? null
  }

  /** Whether what the last supervisor served was deployed, so that it does not stand in the document on disk. */
  get wasDeployed(): boolean {
    return this.#former?.origin === 'api'
  }

  /** This supervisor serves so. Nothing is written when it is as before. */
  serve(state: Pick<FleetRecord, 'workers' | 'ports' | 'origin'>): void {
    this.#change(state)
  }

  /** The process that started this one is gone. */
  abandon(): void {
    this.#change({ isAbandoned: true })
  }

  /** Whether another supervisor waits for this one to leave. */
  get hasSuccessor(): boolean {
    return (readRecord(this.path)?.successor ?? null) !== null
  }

  /** The gateway ends by itself: there is nothing to take over. */
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
 * Waits in an orphaned worker until another supervisor serves, the gateway stops, or `LEFT_BEHIND_MS` pass.
 * Returns the reason to exit.
 */
export async function untilSucceeded(path: string, instance: string, told: AbortSignal): Promise<string> {
  let wasThere = false
  for (let waitedMs = 0; waitedMs < LEFT_BEHIND_MS; waitedMs += LOOK_MS) {
    if (told.aborted) return 'another supervisor has taken over, or the gateway is stopping'
    const record = readRecord(path)
    if (record !== null && record.instance !== instance) return 'another supervisor serves'
    // The next supervisor has ended, or has no room for its own.
    if (record === null && wasThere) return 'the gateway state file has been removed'
    wasThere ||= record !== null
    await sleep(LOOK_MS)
  }
  return 'no new supervisor has started'
}

/** A disk that is full costs the handing over, not the gateway. */
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
    // It is in no directory that can be written: the next supervisor finds nothing to take over.
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
