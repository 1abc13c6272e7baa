import { parentPort, workerData } from 'node:worker_threads'
import { lateOutput } from '../outputs/late-output.js'
import type { LogOutputOptions } from '../outputs/open-output.js'
import { openPreparation, type PreparationOptions } from '../preparation.js'
import type { SpoolCount } from '../queue/record-queue.js'
import { ownerName } from '../spool/owner-name.js'
import { Spool } from '../spool/spool.js'
import { type Instant, steadyMs } from '../steady-clock.js'
import { type Receipt, sendReceipt, type ToWriter } from '../writer/messages.js'
import { DeadLetters } from './dead-letters.js'
import { Gaps } from './gaps.js'
import { Shipper } from './shipper.js'

/** What the thread of a shipper is started with. */
export interface ShipperThreadOptions {
  /** Where records wait; it exists. */
  readonly dir: string
  /** Of all workers together, and this one's share of it. */
  readonly maxBytes: number
  readonly shareBytes: number
  readonly keepFreeBytes: number
  readonly whenFull: 'drop-oldest' | 'drop-newest'
  /** What the request path has encoded, how much of it other threads had, what was noted of it, and when the oldest that waits came. */
  readonly count: SpoolCount
  /** The name and directory that the first thread of the sink finds made; null: it makes its own, as later threads do. */
  readonly firstOwner: string | null
  /** The worker's index, for the ids of records. */
  readonly worker: number
  readonly output: LogOutputOptions
  /** Applied to every record before it is spooled. */
  readonly preparation: PreparationOptions
}

/** How often the number of records encoded is brought to the file system: what a kill leaves uncounted is this young. */
const MARK_EVERY_MS = 5
/** Interval in milliseconds at which segments that are old enough are sealed. */
const SEAL_EVERY_MS = 50
/**
 * Age in milliseconds at which a segment is sealed. Elasticsearch gets large bulk requests. The other outputs get each
 * record within 100 ms, because a pod that is killed loses its spool too.
 */
const BULK_SEAL_MS = 1000
const SEAL_MS = 10
/** Power failures cost what was written since. */
const SYNC_EVERY_MS = 1000
/** How often the spools of others are looked at. */
const LOOK_EVERY_MS = 2000
/** Of the time to close, this share is for shipping; the rest for the last receipts. */
const SHIPPING_SHARE = 0.8

const now = (): Instant => ({ wallMs: Date.now(), mono: steadyMs() })

/** Entry of the thread that spools and ships a worker's records. */
function serve(port: NonNullable<typeof parentPort>): void {
  const {
    output: outputOptions,
    dir,
    worker,
    count,
    firstOwner,
    preparation: rules,
    ...bounds
  } = workerData as ShipperThreadOptions
  const isDirectoryMade = count[2]!++ === 0 && firstOwner !== null
  const owner = isDirectoryMade ? firstOwner : ownerName(worker)
  const gaps = new Gaps(owner, worker)
  /** Of the batch that is worked on, whose lines are in frames before it is answered. */
  let lent: ArrayBuffer | null = null
  const report = (change: Partial<Receipt>): void => {
    gaps.note(change, now())
    const isAnswer = change.records !== undefined
    sendReceipt(port, isAnswer ? { ...change, buffer: lent } : change)
    if (isAnswer) lent = null
  }
  const before = count[1]!
  const encoded = () => count[0]! - before
  const noted = (records: number) => (count[3] = before + records)
  const sealAfterMs = outputOptions.kind === 'elasticsearch' ? BULK_SEAL_MS : SEAL_MS
  const spool = new Spool(
    { root: dir, owner, encoded, noted, isDirectoryMade, sealAfterMs, ...bounds },
    report,
  )
  // From here on every record that is lost by a kill is counted by whoever comes next.
  report({ owner })
  // A database takes a while to read.
  const preparation = openPreparation(rules, (problem) => report({ problem }))
  // A client takes its time to load, and records must not wait for that before they are on disk.
  const output = lateOutput(async () => {
    const { openOutput } = await import('../outputs/open-output.js')
    return openOutput(outputOptions, (problem) => report({ problem }))
  })
  const shipper = new Shipper({ spool, output, deadLetters: new DeadLetters(dir, owner, report), report })
  const timers = [
    setInterval(() => {
      const gap = shipper.isWorking ? gaps.take(now()) : null
      if (gap !== null) spool.appendOwn(gap)
      spool.sealDue(performance.now())
      count[4] = spool.oldestMono ?? Number.NaN
      shipper.pump()
    }, SEAL_EVERY_MS),
    setInterval(() => spool.mark(), MARK_EVERY_MS),
    setInterval(() => spool.sync(), SYNC_EVERY_MS),
    setInterval(() => {
      spool.look(now())
      shipper.pump()
    }, LOOK_EVERY_MS),
  ]
  port.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const received = Buffer.from(message.buffer, 0, message.length)
      const { lines, problem } = preparation.prepared(received)
      if (problem !== '') report({ problem })
      lent = message.buffer
      spool.append(lines, message)
      shipper.pump()
      return
    }
    if (message.kind === 'lost') {
      gaps.note({ dropped: message.records, reason: message.reason }, now())
      return
    }
    for (const timer of timers) clearInterval(timer)
    preparation.close()
    void shipper.close(message.deadlineMs * SHIPPING_SHARE).finally(() => port.close())
  })
  spool.look(now())
  shipper.pump()
}

if (parentPort !== null) serve(parentPort)
