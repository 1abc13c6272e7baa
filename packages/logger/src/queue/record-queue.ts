import {
  deduplicateCounts,
  EMPTY_LOG,
  type Exchange,
  type LogCounts,
  type LogIdentity,
  type LogSink,
  type LossReason,
  type SpoolHandovers,
  sumOfCounts,
} from '@sluice/core'
import { steadyMs } from '../lib/steady-clock.js'
import type { RecordWriter } from '../record/record-writer.js'
import { type FromThread, type LogMemory, newLogMemory } from './messages.js'
import { ProblemReport } from './problem-report.js'
import type { RecordEncoder } from './record-encoder.js'
import { RingWriter } from './ring.js'
import { type Counts, CountsWriter, readCounts } from './shared-counts.js'
import { type WriterProgram, WriterThread } from './writer-thread.js'

/** Options for passing records from the request path to a log thread. */
export interface RecordQueueOptions {
  /** Writes the records. Targets with the same record options can share it. */
  readonly encoder: RecordEncoder
  readonly program: WriterProgram
  /** Maximum number of bytes waiting for the thread. Beyond it, new records are dropped. */
  readonly queueBytes: number
  /** Maximum time in milliseconds after which the thread looks for records. */
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
  /** Keeps the number of records (`count[0]`, and those announced) so that it outlives this process. */
  keep(records: number): void
  /** Called when a thread has ended with this number of records, which are counted as lost. */
  threadLost(records: number): void
  /** Called when a thread has begun, with its owner name. The other records are those of `count[1]`. */
  threadBegan(owner: string): void
  /** Called after the last record. */
  close(): void
}

/**
 * Memory shared with the spool thread:
 * - `[0]`: records encoded by the request path
 * - `[1]`: those of them that did not belong to this thread
 * - `[2]`: number of threads so far
 * - `[3]`: arrival of the oldest undelivered record on the steady clock in milliseconds, or NaN if there is
 * none
 */
export type SpoolCount = Float64Array<SharedArrayBuffer>

/** Creates the shared count of a sink with a spool. */
export function newSpoolCount(): SpoolCount {
  const count = new Float64Array(new SharedArrayBuffer(32))
  count[3] = Number.NaN
  return count
}

/**
 * Maximum wait for the spool thread to start, in milliseconds, so that a problem with the log does not block
 * the gateway's start.
 */
const OPENING_MS = 5000
const NO_SPOOLS: SpoolHandovers = { left: {}, takeovers: [] }
const SLOW = 'the writer of the traffic log is too slow'

/**
 * The log sink of a worker. The request path writes each record to a ring, and the log thread reads it from there:
 *
 *     record ─► ring: at most queueBytes ─► thread ─► file, or spool and output
 *
 * While no thread is running, records wait in the ring. At any moment, every record is counted in exactly one place.
 */
export class RecordQueue implements LogSink {
  readonly opened: Promise<void>
  #resolveOpened: () => void = () => {}
  readonly #options: RecordQueueOptions
  readonly #memory: LogMemory
  readonly #ring: RingWriter
  readonly #lost: CountsWriter
  readonly #thread: WriterThread
  readonly #report: ProblemReport
  readonly #timer: NodeJS.Timeout
  #isTimerSet = false
  /** Records that were put in the ring, without those that were lost there or with a thread, or left on disk by it. */
  #published = 0
  /** Announced records that have not followed yet. */
  #announced = 0
  #closed: Promise<void> | null = null
  /** Final counts of the thread, once the sink is closed. */
  #final: Counts | null = null
  readonly #spoolCount: SpoolCount
  /** Owner name of the current thread, or empty until it has reported its name. */
  #owner: string
  /**
   * Records that ended threads have left on disk, or that the thread has taken over. Those that have left the disk since
   * then are negative numbers in the counts of the thread.
   */
  #former: LogCounts & { readonly spools: SpoolHandovers } = { ...EMPTY_LOG, spools: NO_SPOOLS }

  constructor(options: RecordQueueOptions) {
    this.#options = options
    this.#memory = newLogMemory(options.encoder.texts, options.queueBytes, options.maxRecordBytes)
    this.#ring = new RingWriter(this.#memory.ring, options.queueBytes)
    options.encoder.addRing(this.#ring)
    this.#lost = new CountsWriter(this.#memory.lost)
    // Counting into an unused array is cheaper than checking whether there is a spool.
    this.#spoolCount = options.spool?.count ?? newSpoolCount()
    this.#owner = options.spool?.owner ?? ''
    this.opened = options.spool === null ? Promise.resolve() : this.#opening()
    this.#report = new ProblemReport(options.onProblem)
    this.#thread = new WriterThread(options.program, this.#memory, options.flushMs, {
      onMessage: (message) => this.#hear(message),
      onDown: (problem) => this.#loseThread(problem),
    })
    this.#timer = setTimeout(() => this.#tick(), options.flushMs)
    this.#timer.unref()
    this.#thread.start()
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

  get encoder(): RecordEncoder {
    return this.#options.encoder
  }

  announce(records: number): void {
    if (this.#closed !== null) return
    this.#announced = Math.max(0, this.#announced + records)
    this.#options.spool?.keep(this.#spoolCount[0]! + this.#announced)
  }

  record(x: Exchange): void {
    this.encoder.begin()
    this.add(x)
  }

  /** Adds the record of an exchange that the encoder has begun. */
  add(x: Exchange): void {
    if (this.#closed === null) this.#take(x)
    else this.#drop(1, 'closed', 'they arrived after the traffic log was closed')
    this.announce(-1)
  }

  #take(x: Exchange): void {
    if (this.#ring.isFull) {
      this.#drop(1, 'queue_full', SLOW)
      return
    }
    const { encoder, maxRecordBytes } = this.#options
    let record: RecordWriter
    try {
      record = encoder.encode(x, maxRecordBytes)
    } catch (error) {
      // A bug, but it must not affect the request.
      this.#drop(1, 'not_encodable', String(error))
      return
    }
    if (record.jsonBytes > maxRecordBytes) {
      this.#drop(1, 'too_large', `a record of ${record.jsonBytes} bytes does not fit in a segment`)
      return
    }
    const next = this.#ring.add(record)
    if (next === 'drop the record') {
      this.#drop(1, 'queue_full', SLOW)
      return
    }
    this.#published++
    this.#spoolCount[0]!++
    if (next === 'wake the thread') this.#thread.wake()
  }

  identity(): LogIdentity {
    const counts = this.#counts
    const { indexed, dead, deadRemoved, adopted, onDisk } = counts
    const droppedBy = new Map(readCounts(this.#memory.lost).droppedBy)
    let received = this.#published + adopted
    for (const records of droppedBy.values()) received += records
    for (const [reason, records] of counts.droppedBy)
      droppedBy.set(reason, (droppedBy.get(reason) ?? 0) + records)
    let dropped = 0
    for (const records of droppedBy.values()) dropped += records
    const inMemory = this.#inRing(counts) + counts.inMemory
    const current = this.#onDisk(counts)
    const thread = {
      received,
      indexed,
      dead,
      deadRemoved,
      dropped,
      droppedBy: Object.fromEntries(droppedBy),
      onDisk,
      inMemory,
      lagMs: this.#lagMs(current + counts.inMemory),
    }
    if (this.#options.spool === null) return thread
    const { left, takeovers } = this.#former.spools
    const held = current + inMemory
    const isOwner = this.#owner !== '' && held > 0
    const spools = { left: isOwner ? { ...left, [this.#owner]: held } : left, takeovers }
    return { ...sumOfCounts([thread, this.#former]), spools }
  }

  get #counts(): Counts {
    if (this.#final !== null) return this.#final
    const counts = readCounts(this.#memory.counts)
    // Received afterwards, so that no takeover is missing whose records have left the disk.
    this.#thread.receive()
    return counts
  }

  /** Returns the number of records that the current thread has on disk. */
  #onDisk({ onDisk }: Counts): number {
    let records = onDisk + this.#former.onDisk
    for (const left of Object.values(this.#former.spools.left)) records -= left
    return records
  }

  #inRing({ taken }: Counts): number {
    return this.#published - taken
  }

  #lagMs(waiting: number): number {
    const oldestMono = this.#spoolCount[3]!
    return Number.isNaN(oldestMono) || waiting === 0 ? 0 : Math.max(0, Math.round(steadyMs() - oldestMono))
  }

  close(deadlineMs: number, patienceMs = deadlineMs): Promise<void> {
    // Exchanges under way are now records of another sink.
    this.announce(-this.#announced)
    this.#closed ??= this.#finish(deadlineMs, patienceMs)
    return this.#closed
  }

  #hear({ owner, takeovers = [], lost = 0, problem = '' }: FromThread): void {
    if (owner !== undefined) {
      this.#resolveOpened()
      this.#options.spool?.threadBegan(owner)
      this.#owner = owner
    }
    for (const takeover of takeovers) this.#addFormer(takeover.records, { left: {}, takeovers: [takeover] })
    if (problem !== '') this.#report.note(lost, problem)
    this.#report.send(false)
    if (this.#report.isPending) this.#setTimer()
  }

  /** Counts the records that only the ended thread had as lost. Those in the ring wait for the next thread. */
  #loseThread(problem: string): void {
    const ended = this.#counts
    const { inMemory } = ended
    // Records on disk are not lost. The next thread takes them over, or that of another sink.
    const left = this.#closed === null ? this.#onDisk(ended) : 0
    if (left > 0) this.#addFormer(left, { left: { [this.#owner]: left }, takeovers: [] })
    if (this.#closed === null) this.#owner = ''
    this.#published -= left
    const counts = new CountsWriter(this.#memory.counts)
    counts.add({ taken: -inMemory - left, inMemory: -inMemory, onDisk: -left })
    const lost = inMemory + this.#ring.threadEnded()
    this.#published -= lost
    this.#spoolCount[1] = this.#spoolCount[0]! - this.#inRing(this.#counts)
    this.#options.spool?.threadLost(lost)
    const cause = `the writer of the traffic log ended: ${problem}`
    if (lost > 0) this.#drop(lost, 'writer_lost', cause)
    else if (problem !== '') this.#report.note(0, cause)
    this.#report.send(false)
  }

  #addFormer(records: number, spools: SpoolHandovers): void {
    const added = { ...EMPTY_LOG, received: records, onDisk: records, spools }
    this.#former = { spools, ...deduplicateCounts(sumOfCounts([this.#former, added])) }
  }

  async #finish(deadlineMs: number, patienceMs: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#thread.start()
    await this.#thread.close(deadlineMs, patienceMs)
    const counts = this.#counts
    const left = this.#inRing(counts) + counts.inMemory
    // Counted below, so not by the next owner of the spool.
    this.#options.spool?.threadLost(left)
    this.#options.spool?.close()
    this.#published -= left
    // An abandoned thread may still change the shared counts.
    this.#final = { ...counts, taken: this.#published, inMemory: 0 }
    if (left > 0) this.#drop(left, 'close_deadline', `not written within ${patienceMs} ms of closing`)
    this.#report.send(true)
  }

  /** Drops records that no thread has. */
  #drop(dropped: number, reason: LossReason, cause: string): void {
    this.#lost.add({ dropped, reason })
    this.#report.note(dropped, cause)
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
    this.#report.send(false)
    if (this.#report.isPending) this.#setTimer()
  }
}
