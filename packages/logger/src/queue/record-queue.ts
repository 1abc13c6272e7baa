import type { Exchange, LogIdentity, LogSink, LossReason } from '@sluice/core'
import { encodeRecord } from '../record/record.js'
import type { RecordEnv } from '../record/record-env.js'
import { steadyMs } from '../steady-clock.js'
import type { Batch, Receipt } from '../writer/messages.js'
import { type WriterProgram, WriterThread } from '../writer/writer-thread.js'
import { giveBack, OpenBatch } from './open-batch.js'
import { ProblemReport } from './problem-report.js'
import { SpoolOwners } from './spool-owners.js'

/** How records get from the request path to a writer thread. */
export interface RecordQueueOptions {
  readonly env: RecordEnv
  readonly program: WriterProgram
  /** Bytes that may be held without a receipt; beyond, new records are dropped. */
  readonly queueBytes: number
  /** The longest time a record waits for company, ms. */
  readonly flushMs: number
  /** A longer record is dropped. */
  readonly maxRecordBytes: number
  readonly onProblem: (message: string) => void
  /** What the thread keeps in a spool that others can take over; null for a sink without one. */
  readonly spool: SpoolWatch | null
}

/** What is known of a spool outside of its thread. */
export interface SpoolWatch {
  readonly count: SpoolCount
  /** The name of the first thread's part of the spool; null: that thread chooses one. */
  readonly owner: string | null
  /**
   * Brings the number of records encoded so far to where it outlives this process. Does not throw.
   * @returns false: it is not there yet, and this has to be asked again.
   */
  note(encoded: number): boolean
  close(): void
}

/**
 * Shared with the thread of a spool: the number of records that the request path has encoded, how many of them were not
 * this thread's, how many threads there have been, the first number as the thread has last noted it, and when the oldest
 * record came that is not delivered (by the steady clock; NaN: there is none).
 */
export type SpoolCount = Float64Array<SharedArrayBuffer>

/** The count of a sink with a spool. */
export function newSpoolCount(): SpoolCount {
  const count = new Float64Array(new SharedArrayBuffer(40))
  count[4] = Number.NaN
  return count
}

/** Longest wait for the thread of a spool to begin, ms; a gateway that starts must not hang on its log. */
const OPENING_MS = 5000

/**
 * The sink of a worker. The request path encodes a record into a batch; batches go to the writer's thread, which
 * answers each with a receipt.
 *
 *     record ─► open batch ─► sealed batches ─► thread ─► receipt
 *               └──────────── held: at most queueBytes ─────────┘
 *
 * Batches stay sealed here only while there is no thread. Every record is counted where it is, at every moment.
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
  /** Of the held ones, those that the thread has. */
  #sent = 0
  #sentBytes = 0
  #received = 0
  #indexed = 0
  #dead = 0
  #deadRemoved = 0
  /** What the thread keeps, on disk and in its own memory. */
  #spooled = 0
  #kept = 0
  readonly #dropped = new Map<LossReason, number>()
  /** Of these, what the thread has not heard of. */
  readonly #unreported = new Map<LossReason, number>()
  #closed: Promise<void> | null = null
  readonly #spoolCount: SpoolCount
  readonly #owners: SpoolOwners

  constructor(options: RecordQueueOptions) {
    this.#options = options
    // Counting into a place of its own costs less than asking whether there is one.
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
      this.#drop(1, 'closed', 'they came after the traffic log was closed')
      return
    }
    if (this.#heldBytes >= this.#options.queueBytes) {
      this.#drop(1, 'queue_full', 'the writer of the traffic log does not keep up')
      return
    }
    let line: string
    try {
      line = this.#lineOf(x)
    } catch (error) {
      // A defect, but one that must not end the request that met it.
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

  /** A record that its bodies make too large is reported without them. */
  #lineOf(x: Exchange): string {
    const line = encodeRecord(x, this.#options.env) + '\n'
    if (line.length <= this.#options.maxRecordBytes || x.record.capture === null) return line
    return encodeRecord(x, this.#options.env, false) + '\n'
  }

  #add(line: string): void {
    const bytes = line.length
    if (bytes > this.#options.maxRecordBytes) {
      this.#drop(1, 'too_large', `a record of ${bytes} bytes does not fit a segment`)
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

  /** The thread is gone: what has no receipt counts as lost, though part of it may be on disk. */
  #loseSent(problem: string): void {
    const lost = this.#sent + this.#kept
    this.#held -= this.#sent
    this.#kept = 0
    this.#spoolCount[1] = this.#spoolCount[0]! - this.#held
    // What is on disk is not lost: the thread that comes next takes it over.
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

  /** Loses records on this side of the thread, which hears of it with the next batch. */
  #drop(records: number, reason: LossReason, cause: string): void {
    this.#unreported.set(reason, (this.#unreported.get(reason) ?? 0) + records)
    this.#count(records, reason, cause)
  }

  #count(records: number, reason: LossReason, cause: string): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + records)
    this.#report.note(records, cause)
    this.#setTimer()
  }

  /** One timer for the whole life of the sink; it never keeps the process alive. */
  #setTimer(): void {
    if (this.#isTimerSet || this.#closed !== null) return
    this.#isTimerSet = true
    this.#timer.refresh()
  }

  #tick(): void {
    this.#isTimerSet = false
    // Before the batch is on its way, and whether or not there is a thread that will count it.
    const isNoted = this.#options.spool?.note(this.#spoolCount[0]!) ?? true
    this.#flush()
    this.#report.send(false)
    if (this.#report.isPending || !isNoted) this.#setTimer()
  }
}
