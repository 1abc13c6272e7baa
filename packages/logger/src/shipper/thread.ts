import { parentPort, workerData } from 'node:worker_threads'
import { type Instant, steadyMs } from '../lib/steady-clock.js'
import { openPreparation, type PreparationOptions } from '../preparation/preparation.js'
import type { ReportChange, ThreadData } from '../queue/messages.js'
import { RecordFeed } from '../queue/record-feed.js'
import type { SpoolCount } from '../queue/record-queue.js'
import { takeLosses } from '../queue/shared-counts.js'
import { removeLeftoverPages } from '../spool/count-page.js'
import { ownerName } from '../spool/owner-name.js'
import { Spool } from '../spool/spool.js'
import { DeadLetters } from './dead-letters.js'
import { Gaps } from './gaps.js'
import { type LogOutputOptions, openOutput, openWithRetry } from './open-output.js'
import { Shipper } from './shipper.js'

/** Options for the shipper thread. */
export interface ShipperThreadOptions {
  /** Spool directory, which must exist. */
  readonly dir: string
  /** Maximum size of the spools of all workers together, and this worker's share of it, in bytes. */
  readonly maxBytes: number
  readonly shareBytes: number
  readonly minFreeBytes: number
  readonly whenFull: 'drop-oldest' | 'drop-newest'
  /** Memory shared with the request path (see `SpoolCount`). */
  readonly count: SpoolCount
  /**
   * Owner name whose directory already exists, for the first thread of the sink. Null if the thread creates
   * its own, as later threads do.
   */
  readonly firstOwner: string | null
  /** True if the request path keeps the number of records where it outlives the process. */
  readonly isCountKept: boolean
  /** Index of the worker, for record IDs. */
  readonly worker: number
  readonly output: LogOutputOptions
  /** Processing of every record before it is spooled. */
  readonly preparation: PreparationOptions
}

/**
 * Interval in milliseconds for saving the number of encoded records on disk: normally, and if nothing else
 * would count them after the process is killed.
 */
const MARK_EVERY_MS = 1000
const ONLY_MARK_EVERY_MS = 5
/** Interval in milliseconds at which segments that are old enough are sealed. */
const SEAL_EVERY_MS = 50
/**
 * Age in milliseconds at which a segment is sealed. Elasticsearch and collectors get large requests. The other outputs
 * get each record within 100 ms, because a pod that is killed loses its spool too.
 */
const BULK_SEAL_MS = 1000
const BULK_KINDS: ReadonlySet<LogOutputOptions['kind']> = new Set(['elasticsearch', 'otlp'])
const SEAL_MS = 10
/** Interval of syncing to disk in milliseconds. A power failure loses the records written since. */
const SYNC_EVERY_MS = 1000
/** Interval for checking the spools of other owners, in milliseconds. */
const LOOK_EVERY_MS = 2000
/** Fraction of the shutdown deadline used for shipping. The rest is for the last counts. */
const SHIPPING_SHARE = 0.8

const now = (): Instant => ({ wallMs: Date.now(), mono: steadyMs() })

/** Entry point of the thread that spools and ships the records of a worker. */
function serve(port: NonNullable<typeof parentPort>): void {
  const data = workerData as ThreadData<ShipperThreadOptions>
  const {
    output: outputOptions,
    dir,
    worker,
    count,
    firstOwner,
    isCountKept,
    preparation: rules,
    ...bounds
  } = data.options
  const isDirectoryMade = count[2]!++ === 0 && firstOwner !== null
  const owner = isDirectoryMade ? firstOwner : ownerName(worker)
  const { lost, noted } = data.memory
  const feed = new RecordFeed(port, data)
  const gaps = new Gaps(dir, owner, worker)
  const report: ReportChange = (change) => {
    gaps.note(change, now())
    feed.report(change)
  }
  const before = count[1]!
  const encoded = () => count[0]! - before
  const sealAfterMs = BULK_KINDS.has(outputOptions.kind) ? BULK_SEAL_MS : SEAL_MS
  const spool = new Spool({ root: dir, owner, encoded, isDirectoryMade, sealAfterMs, ...bounds }, report)
  gaps.save()
  // From now on, the next owner counts all records lost by a kill.
  report({ owner })
  // Loading a database takes time.
  const preparation = openPreparation(rules, (problem) => report({ problem }))
  // Loading a client library takes time. Records must be on disk before.
  const output = openWithRetry(() => openOutput(outputOptions, (problem) => report({ problem })))
  const shipper = new Shipper({ spool, output, deadLetters: new DeadLetters(dir, owner, report), report })
  const appendGap = (json: string) => spool.appendOwn(json)
  const timers = [
    setInterval(() => {
      for (const loss of takeLosses(lost, noted)) gaps.note(loss, now())
      if (shipper.isWorking) gaps.report(now(), appendGap)
      spool.sealDue(performance.now())
      count[3] = spool.oldestMono ?? Number.NaN
      shipper.pump()
    }, SEAL_EVERY_MS),
    setInterval(() => spool.mark(), isCountKept ? MARK_EVERY_MS : ONLY_MARK_EVERY_MS),
    setInterval(() => spool.sync(), SYNC_EVERY_MS),
    setInterval(() => {
      spool.maintain(now())
      shipper.pump()
    }, LOOK_EVERY_MS),
  ]
  feed.start({
    onLines(received, records) {
      const { lines, problem } = preparation.prepared(received)
      if (problem !== '') report({ problem })
      spool.append(lines, records)
      shipper.pump()
    },
    onClose(deadlineMs) {
      for (const timer of timers) clearInterval(timer)
      preparation.close()
      gaps.report(now(), appendGap, true)
      void shipper.close(deadlineMs * SHIPPING_SHARE).finally(() => {
        gaps.close()
        port.close()
      })
    },
  })
  removeLeftoverPages()
  spool.maintain(now())
  shipper.pump()
}

if (parentPort !== null) serve(parentPort)
