import { resolve } from 'node:path'
import { checkedPreparation } from '../preparation/preparation.js'
import type { RecordQueue } from '../queue/record-queue.js'
import type { WriterThreadOptions } from '../writer/thread.js'
import { makeWritable, openQueue, type SinkOptions } from './sink-options.js'

/** Options for writing the traffic log to files. */
export interface FileSinkOptions extends SinkOptions {
  /** Log directory, shared by all workers. Created if missing. */
  readonly dir: string
  /**
   * Maximum size of all segments of all workers together in bytes; at least 1 MiB. The oldest closed segments
   * are deleted.
   */
  readonly maxBytes: number
  /**
   * Size at which a segment is closed, in bytes. Smaller if `maxBytes` would leave too little room for older
   * segments.
   */
  readonly segmentBytes: number
}

/** Maximum record size. The queue has room for two. */
const MAX_RECORD_BYTES = 8 * 1024 ** 2
const MIN_CAP_BYTES = 1024 ** 2
/** Default for `writers`. Large installations run 8 workers. */
const WRITERS = 8

/**
 * Opens a traffic log that a separate thread writes to `<dir>/traffic-<worker>-<startMs>-<seq>.ndjson`.
 * @throws Error if the directory cannot be created or written, or the privacy rules are invalid.
 * @throws RangeError if `maxBytes` is too small.
 */
export function openFileSink(options: FileSinkOptions): RecordQueue {
  if (options.maxBytes < MIN_CAP_BYTES) {
    throw new RangeError(
      `the size limit of the traffic log is ${options.maxBytes} bytes; set it to at least 1mb`,
    )
  }
  const dir = resolve(options.dir)
  makeWritable(dir, 'the traffic log', 'choose another log.file.dir')
  const segmentBytes = fittingSegmentBytes(options)
  const { maxBytes, worker } = options
  const thread: WriterThreadOptions = {
    ...{ dir, maxBytes, segmentBytes, worker },
    preparation: checkedPreparation(options),
  }
  return openQueue(options, {
    program: { entry: new URL('../writer/thread.js', import.meta.url), options: thread },
    maxRecordBytes: Math.min(segmentBytes, MAX_RECORD_BYTES),
    spool: null,
  })
}

/**
 * Limits the segment size so that all open segments together take at most half of `maxBytes`. Open segments
 * count with their full size.
 */
function fittingSegmentBytes(options: FileSinkOptions): number {
  const share = Math.floor(options.maxBytes / (2 * (options.writers ?? WRITERS)))
  return Math.min(options.segmentBytes, share)
}
