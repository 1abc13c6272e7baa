import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { writePrivateFile } from '@sluice/core'
import { isAlive } from '@sluice/core/process-stat'
import { type FleetRecord, POLL_MS, readFleetRecord } from '../worker/fleet-record.js'
import { documentFile } from './documents/document-file.js'
import { ProcessClock } from './process/process-clock.js'

/** Longest wait for an abandoned supervisor to exit, in milliseconds of its CPU time. */
const LEAVE_MS = 5000

/**
 * `fleet-*.json` in the data directory: the supervisor of a document with its workers and ports. Workers
 * outlive a killed supervisor. The next supervisor finds them here and binds the same ports beside them. Once
 * it is serving it writes its own record, and the old workers then drain.
 */
export class FleetFile {
  readonly path: string
  readonly instance: string
  #record: FleetRecord
  /** Record whose workers may still hold ports, or null if the last supervisor stopped cleanly. */
  #former: FleetRecord | null = null
  readonly #replacedPid: number | null
  #isReplaced = false

  /**
   * @param document path of the document; several gateways may share a data directory.
   * @param replacedPid running supervisor to replace, or null.
   * @param instance id of this supervisor.
   */
  constructor(
    dataDir: string,
    document: string,
    replacedPid: number | null = null,
    instance: string = randomUUID(),
  ) {
    this.instance = instance
    this.#replacedPid = replacedPid
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
    const last = readFleetRecord(this.path)
    if (last === null) return
    if (last.isAbandoned && isAlive(last.pid)) {
      write(this.path, { ...last, successor: this.instance })
      const clock = new ProcessClock(last.pid)
      while (isAlive(last.pid) && clock.now() < LEAVE_MS) await sleep(POLL_MS)
    }
    const isOurs = last.pid === process.pid || last.pid === this.#replacedPid
    if (isOurs || !isAlive(last.pid)) this.#former = last
  }

  /** Returns the port on which workers of the last supervisor listen for an address, or null if none do. */
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

  /** Stops writing: the record is now that of the next version. */
  leave(): void {
    this.#isReplaced = true
  }

  /** Records that the parent process is gone. */
  abandon(): void {
    this.#change({ isAbandoned: true })
  }

  /** True if another supervisor waits for this one to exit. */
  get hasSuccessor(): boolean {
    return (readFleetRecord(this.path)?.successor ?? null) !== null
  }

  /** Deletes the record on a clean stop: there is nothing to take over. */
  remove(): void {
    if (readFleetRecord(this.path)?.instance === this.instance) discard(this.path)
  }

  #change(change: Partial<FleetRecord>): void {
    const record = { ...this.#record, ...change }
    if (this.#isReplaced || JSON.stringify(record) === JSON.stringify(this.#record)) return
    this.#record = record
    write(this.path, record)
  }
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
