import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { LogSink } from '@sluice/core'
import { checkedPreparation } from './preparation.js'
import { RecordQueue } from './queue/record-queue.js'
import { recordEnv } from './record/record-env.js'
import type { SinkOptions } from './sink-options.js'
import { makeWritable } from './writable-dir.js'
import type { WriterThreadOptions } from './writer/thread.js'
import type { WriterProgram } from './writer/writer-thread.js'

/** How the traffic log is written to files. */
export interface FileSinkOptions extends SinkOptions {
  /** Shared by all workers; created when it is missing. */
  readonly dir: string
  /** All segments of all workers together; at least 1 MiB. The oldest closed segments are deleted. */
  readonly maxBytes: number
  /** A segment is closed at this size, or earlier when the cap leaves too little for older ones. */
  readonly segmentBytes: number
}

const MIN_CAP_BYTES = 1024 ** 2
const QUEUE_BYTES = 8 * 1024 ** 2
const FLUSH_MS = 20
/** The widest tier has 8 workers. */
const WRITERS = 8

/**
 * Opens the traffic log in files: `<dir>/traffic-<worker>-<startMs>-<seq>.ndjson`, written by a thread of its own.
 * @throws Error when the directory cannot be created or written, or privacy rules cannot be applied.
 * @throws RangeError when maxBytes is too small.
 */
export function openFileSink(options: FileSinkOptions): LogSink {
  if (options.maxBytes < MIN_CAP_BYTES) {
    throw new RangeError(`the traffic log's cap is ${options.maxBytes} bytes; give it at least 1mb`)
  }
  const dir = resolve(options.dir)
  makeWritable(dir, 'the traffic log', 'choose another log.file.dir')
  const segmentBytes = fittingSegmentBytes(options)
  const { maxBytes, worker } = options
  const preparation = checkedPreparation(options)
  return new RecordQueue({
    env: recordEnv({ ...options, node: options.node ?? hostname() }),
    program: segmentProgram({ dir, maxBytes, segmentBytes, worker, preparation }),
    queueBytes: options.queueBytes ?? QUEUE_BYTES,
    flushMs: options.flushMs ?? FLUSH_MS,
    maxRecordBytes: segmentBytes,
    onProblem: options.onProblem ?? ignore,
    spool: null,
  })
}

function segmentProgram(options: WriterThreadOptions): WriterProgram {
  return { entry: new URL('./writer/thread.js', import.meta.url), options }
}

/** Open segments count with their full size, so all of them together take at most half of the cap. */
function fittingSegmentBytes(options: FileSinkOptions): number {
  const share = Math.floor(options.maxBytes / (2 * (options.writers ?? WRITERS)))
  return Math.min(options.segmentBytes, share)
}

/** The identity still counts what nobody wants to hear. */
function ignore(): void {}
