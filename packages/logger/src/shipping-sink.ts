import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { LogSink } from '@sluice/core'
import type { LogOutputOptions } from './outputs/open-output.js'
import { checkedPreparation } from './preparation.js'
import { RecordQueue } from './queue/record-queue.js'
import { recordEnv } from './record/record-env.js'
import type { ShipperThreadOptions } from './shipper/thread.js'
import type { SinkOptions } from './sink-options.js'
import { OwnerDirectoryWatch } from './spool/owner-directory-watch.js'
import { ownerName } from './spool/owner-name.js'
import { makeWritable } from './writable-dir.js'

/** How the traffic log is shipped to an output. */
export interface ShippingSinkOptions extends SinkOptions {
  readonly spool: {
    /** Shared by all workers; created when it is missing. */
    readonly dir: string
    /** All workers together. */
    readonly maxBytes: number
    /** Bytes of the disk that are left to others; default 0. */
    readonly keepFreeBytes?: number
    readonly whenFull: 'drop-oldest' | 'drop-newest'
  }
  readonly output: LogOutputOptions
}

const QUEUE_BYTES = 8 * 1024 ** 2
const FLUSH_MS = 20
/** A larger record could not be shipped by any output. */
const MAX_RECORD_BYTES = 1024 ** 2

/**
 * Opens the traffic log that is shipped: spooled to disk by a thread of its own, then delivered to the output, for as
 * long as it takes.
 * @throws Error when the spool's directory cannot be created or written, or privacy rules cannot be applied.
 */
export function openShippingSink(options: ShippingSinkOptions): LogSink {
  const { spool, output, worker } = options
  const dir = resolve(spool.dir)
  makeWritable(dir, 'the log spool', 'choose another spool.dir')
  const watch = new OwnerDirectoryWatch(dir, ownerName(worker))
  const thread: ShipperThreadOptions = {
    dir,
    count: watch.count,
    firstOwner: watch.owner,
    worker,
    output,
    whenFull: spool.whenFull,
    preparation: checkedPreparation(options),
    maxBytes: spool.maxBytes,
    keepFreeBytes: spool.keepFreeBytes ?? 0,
    shareBytes: Math.floor(spool.maxBytes / Math.max(1, options.writers ?? 1)),
  }
  return new RecordQueue({
    env: recordEnv({ ...options, node: options.node ?? hostname() }),
    program: { entry: new URL('./shipper/thread.js', import.meta.url), options: thread },
    queueBytes: options.queueBytes ?? QUEUE_BYTES,
    flushMs: options.flushMs ?? FLUSH_MS,
    maxRecordBytes: MAX_RECORD_BYTES,
    onProblem: options.onProblem ?? (() => {}),
    spool: watch,
  })
}
