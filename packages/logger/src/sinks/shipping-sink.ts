import { resolve } from 'node:path'
import { checkedPreparation } from '../preparation/preparation.js'
import type { RecordQueue } from '../queue/record-queue.js'
import type { LogOutputOptions } from '../shipper/open-output.js'
import type { ShipperThreadOptions } from '../shipper/thread.js'
import { OwnerDirectoryWatch } from '../spool/owner-directory.js'
import { ownerName } from '../spool/owner-name.js'
import { makeWritable, openQueue, type SinkOptions } from './sink-options.js'

/** Options for shipping the traffic log to an output. */
export interface ShippingSinkOptions extends SinkOptions {
  readonly spool: {
    /** Spool directory, shared by all workers. Created if missing. */
    readonly dir: string
    /** Maximum size of the spools of all workers together, in bytes. */
    readonly maxBytes: number
    /** Free disk space to leave to other programs, in bytes; default 0. */
    readonly minFreeBytes?: number
    readonly whenFull: 'drop-oldest' | 'drop-newest'
  }
  readonly output: LogOutputOptions
}

/** Maximum record size. No output accepts larger records. */
const MAX_RECORD_BYTES = 1024 ** 2

/**
 * Opens a traffic log that a separate thread spools to disk and delivers to the output, retrying as long as
 * necessary.
 * @throws Error if the spool directory cannot be created or written, or the privacy rules are invalid.
 */
export function openShippingSink(options: ShippingSinkOptions): RecordQueue {
  const { spool, output, worker } = options
  const dir = resolve(spool.dir)
  makeWritable(dir, 'the log spool', 'choose another spool.dir')
  const watch = new OwnerDirectoryWatch(dir, ownerName(worker))
  const thread: ShipperThreadOptions = {
    dir,
    count: watch.count,
    firstOwner: watch.owner,
    isCountKept: watch.isExact,
    worker,
    output,
    whenFull: spool.whenFull,
    preparation: checkedPreparation(options),
    maxBytes: spool.maxBytes,
    minFreeBytes: spool.minFreeBytes ?? 0,
    shareBytes: Math.floor(spool.maxBytes / Math.max(1, options.writers ?? 1)),
  }
  return openQueue(options, {
    program: { entry: new URL('../shipper/thread.js', import.meta.url), options: thread },
    maxRecordBytes: MAX_RECORD_BYTES,
    spool: watch,
  })
}
