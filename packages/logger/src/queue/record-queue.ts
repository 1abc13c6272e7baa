import type { Exchange, LogIdentity, LogSink, LossReason } from '@sluice/core'
import { steadyMs } from '../lib/steady-clock.js'
import { encodeRecord } from '../record/record.js'
import type { RecordEnv } from '../record/record-env.js'
import type { Batch, Receipt } from './messages.js'
import { giveBack, OpenBatch } from './open-batch.js'
import { ProblemReport } from './problem-report.js'
import { SpoolOwners } from './spool-owners.js'
import { type WriterProgram, WriterThread } from './writer-thread.js'

/** Options for passing records from the request path to a writer thread. */
export interface RecordQueueOptions {
  readonly env: RecordEnv
  readonly program: WriterProgram
  /** Maximum number of bytes waiting for a receipt. Beyond it, new records are dropped. */
  readonly queueBytes: number
  /** Maximum time that a record waits in an open batch, in milliseconds. */
  readonly flushMs: number
  /** Maximum size of a record in bytes. Larger records are dropped. */
  readonly maxRecordBytes: number
  readonly onProblem: (message: string) => void
  /** Observer of the thread's spool, which another owner may take over. Null for a sink without a spool. */
  readonly spool: SpoolWatch | null
}

/** Information about a spool outside of its thread. */
export interface SpoolWatch {
  readonly count: SpoolCount
  /** Name of the first thread's part of the spool. Null if the thread chooses one. */
  readonly owner: string | null
  /**
   * Saves the number of encoded records so that it survives this process. Does not throw.
   * @returns False if it is not saved yet and must be saved again.
   */
  note(encoded: number): boolean
  close(): void
}

/**
 * Memory shared with the spool thread:
 * - `[0]`: records encoded by the request path
 * - `[1]`: those of them that did not belong to this thread
 * - `[2]`: number of threads so far
 * - `[3]`: value of `[0]` that the thread has last saved
 * - `[4]`: arrival of the oldest undelivered record on the steady clock in milliseconds, or NaN if there is
 * none
 */
export type SpoolCount = Float64Array<SharedArrayBuffer>

/** Creates the shared count of a sink with a spool. */
export function newSpoolCount(): SpoolCount {
  const count = new Float64Array(new SharedArrayBuffer(40))
  count[4] = Number.NaN
  return count
}

/**
 * Maximum wait for the spool thread to start, in milliseconds, so that a problem with the log does not block
 * the gateway's start.
 */
const OPENING_MS = 5000

/**
 * The log sink of a worker. The request path encodes each record into a batch. The writer thread answers each
 * batch with a receipt.
 *
 *     record ─► open batch ─► sealed batches ─► thread ─► receipt
 *               └──────────── held: at most queueBytes ─────────┘
 *
 * Sealed batches wait here only while no thread is running. At any moment, every record is counted in exactly
 * one place.
 */
export class RecordQueue implements LogSink {
  readonly opened: Promise<void>
  #resolveOpened: () => void = () => {}
  readonly #options: RecordQueueOptions
  readonly #writer: WriterThread
  readonly #report: ProblemReport
  readonly #timer: NodeJS.Timeout
  #isTimerSet = false
  #open: OpenBatch | null = null
  #sealed: Batch[] = []
  #heldBytes = 0
  #held = 0
  /** Held records that were sent to the thread. */
  #sent = 0
  #sentBytes = 0
  #received = 0
  #indexed = 0
  #dead = 0
  #deadRemoved = 0
  /** Records that the thread has on disk and in memory. */
  #spooled = 0
  #kept = 0
  readonly #dropped = new Map<LossReason, number>()
  /** Dropped records that were not reported to the thread yet. */
  readonly #unreported = new Map<LossReason, number>()
  #closed: Promise<void> | null = null
  readonly #spoolCount: SpoolCount
  readonly #owners: SpoolOwners

  constructor(options: RecordQueueOptions) {
    this.#options = options
    // Counting into an unused array is cheaper than checking whether there is a spool.
    this.#spoolCount = options.spool?.count ?? newSpoolCount()
    this.#owners = new SpoolOwners(options.spool?.owner ?? '')
    this.opened = options.spool === null ? Promise.resolve() : this.#opening()
    this.#report = new ProblemReport(options.onProblem)
    this.#writer = new WriterThread(options.program, {
      onReceipt: (receipt) => this.#settle(receipt),
      onDown: (problem) => this.#loseSent(problem),
      onUp: () => this.#flush(),
    })
    this.#timer = setTimeout(() => this.#tick(), options.flushMs)
    this.#timer.unref()
    this.#writer.start()
  }

  #opening(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, OPENING_MS)
      this.#resolveOpened = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  record(x: Exchange): void {
    this.#received++
    if (this.#closed !== null) {
      this.#drop(1, 'closed', 'they arrived after the traffic log was closed')
      return
    }
    if (this.#heldBytes >= this.#options.queueBytes) {
      this.#drop(1, 'queue_full', 'the writer of the traffic log is too slow')
      return
    }
    let line: string
    try {
      line = this.#lineOf(x)
    } catch (error) {
      // A bug, but it must not affect the request.
      this.#drop(1, 'not_encodable', String(error))
      return
    }
    this.#add(line)
  }

  identity(): LogIdentity {
    let dropped = 0
    for (const count of this.#dropped.values()) dropped += count
    return {
      received: this.#received,
      indexed: this.#indexed,
      dead: this.#dead,
      deadRemoved: this.#deadRemoved,
      dropped,
      droppedBy: Object.fromEntries(this.#dropped),
      onDisk: this.#spooled + this.#owners.endedRecords,
      inMemory: this.#held + this.#kept,
      lagMs: this.#lagMs,
      ...(this.#options.spool === null
        ? {}
        : { spools: this.#owners.handovers(this.#spooled + this.#held + this.#kept) }),
    }
  }

  get #lagMs(): number {
    const oldestMono = this.#spoolCount[4]!
    return Number.isNaN(oldestMono) || this.#spooled + this.#kept === 0
      ? 0
      : Math.max(0, Math.round(steadyMs() - oldestMono))
  }

  close(deadlineMs: number): Promise<void> {
    this.#closed ??= this.#finish(deadlineMs)
    return this.#closed
  }

  /** Encodes a record, without its bodies if they make it too large. */
  #lineOf(x: Exchange): string {
    const line = encodeRecord(x, this.#options.env) + '\n'
    if (line.length <= this.#options.maxRecordBytes || x.record.capture === null) return line
    return encodeRecord(x, this.#options.env, false) + '\n'
  }

  #add(line: string): void {
    const bytes = line.length
    if (bytes > this.#options.maxRecordBytes) {
      this.#drop(1, 'too_large', `a record of ${bytes} bytes does not fit in a segment`)
      return
    }
    if (this.#open !== null && !this.#open.takes(bytes)) this.#seal(this.#open)
    this.#open ??= new OpenBatch(bytes)
    this.#open.add(line)
    this.#held++
    this.#heldBytes += bytes
    this.#spoolCount[0]!++
    if (this.#open.isFull) this.#flush()
    else this.#setTimer()
  }

  #seal(batch: OpenBatch): void {
    this.#sealed.push(batch.seal())
    this.#open = null
    this.#flush()
  }

  #flush(): void {
    if (!this.#writer.isUp) return
    if (this.#open !== null) this.#sealed.push(this.#open.seal())
    this.#open = null
    for (const batch of this.#sealed) {
      this.#sent += batch.records
      this.#sentBytes += batch.length
      this.#writer.send(batch)
    }
    this.#sealed.length = 0
    if (this.#unreported.size > 0) this.#reportLosses()
  }

  #reportLosses(): void {
    for (const [reason, records] of this.#unreported) this.#writer.notify({ kind: 'lost', reason, records })
    this.#unreported.clear()
  }

  #settle(receipt: Receipt): void {
    this.#resolveOpened()
    const { records, length, dropped, reason, problem, buffer } = receipt
    if (buffer !== null) giveBack(buffer)
    this.#sent -= records
    this.#sentBytes -= length
    this.#held -= records
    this.#heldBytes -= length
    if (receipt.owner !== '') this.#owners.threadBegan(receipt.owner)
    const { again, delivered } = this.#owners.takeOver(receipt.takeovers)
    this.#received += receipt.adopted - again
    this.#indexed += receipt.indexed + delivered
    this.#dead += receipt.dead
    this.#deadRemoved += receipt.deadRemoved
    this.#spooled += receipt.onDisk
    this.#kept += receipt.inMemory
    if (reason !== '') this.#count(dropped, reason, problem)
    else if (problem !== '') this.#report.note(0, problem)
    this.#report.send(false)
  }

  /**
   * Counts the batches without a receipt as lost when the thread has ended, although part of them may be on
   * disk.
   */
  #loseSent(problem: string): void {
    const lost = this.#sent + this.#kept
    this.#held -= this.#sent
    this.#kept = 0
    this.#spoolCount[1] = this.#spoolCount[0]! - this.#held
    // Records on disk are not lost. The next thread takes them over.
    if (this.#closed === null) {
      this.#owners.threadEnded(this.#spooled)
      this.#spooled = 0
    }
    this.#heldBytes -= this.#sentBytes
    this.#sent = 0
    this.#sentBytes = 0
    if (lost > 0) this.#drop(lost, 'writer_lost', `the writer of the traffic log ended: ${problem}`)
    else if (problem !== '') this.#report.note(0, `the writer of the traffic log ended: ${problem}`)
    this.#report.send(false)
  }

  async #finish(deadlineMs: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#writer.start()
    this.#flush()
    await this.#writer.close(deadlineMs)
    this.#options.spool?.close()
    const left = this.#held + this.#kept
    if (left > 0) this.#drop(left, 'close_deadline', `not written within ${deadlineMs} ms of closing`)
    this.#held = 0
    this.#kept = 0
    this.#heldBytes = 0
    this.#sealed.length = 0
    this.#open = null
    this.#report.send(true)
  }

  /** Drops records before they reach the thread. The thread is told with the next batch. */
  #drop(records: number, reason: LossReason, cause: string): void {
    this.#unreported.set(reason, (this.#unreported.get(reason) ?? 0) + records)
    this.#count(records, reason, cause)
  }

  #count(records: number, reason: LossReason, cause: string): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + records)
    this.#report.note(records, cause)
    this.#setTimer()
  }

  /** Restarts the sink's only timer, which does not keep the process alive. */
  #setTimer(): void {
    if (this.#isTimerSet || this.#closed !== null) return
    this.#isTimerSet = true
    this.#timer.refresh()
  }

  #tick(): void {
    this.#isTimerSet = false
    // Must happen before the batch is sent, and even if no thread is running that could count it.
    const isNoted = this.#options.spool?.note(this.#spoolCount[0]!) ?? true
    this.#flush()
    this.#report.send(false)
    if (this.#report.isPending || !isNoted) this.#setTimer()
  }
}
