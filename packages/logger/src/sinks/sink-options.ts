import { accessSync, constants } from 'node:fs'
import { hostname } from 'node:os'
import { makeFolders } from '@sluice/core'
import type { GeoOptions } from '../preparation/places.js'
import { RecordEncoders } from '../queue/record-encoder.js'
import { RecordQueue, type RecordQueueOptions } from '../queue/record-queue.js'
import type { RecordOptions } from '../record/record-env.js'
import type { PrivacyOptions } from '../redaction/privacy-options.js'

/** Options for every sink of a worker. */
export interface SinkOptions extends Omit<RecordOptions, 'node'> {
  /** Number of workers that share the directory; default 8. */
  readonly writers?: number
  /** Name of the machine or pod in records; default the host name. */
  readonly node?: string
  /** Options for adding client locations on the writing thread. Null or absent adds none. */
  readonly geo?: GeoOptions | null
  /** Privacy rules applied on the writing thread. Null or absent applies none. */
  readonly privacy?: PrivacyOptions | null
  /**
   * Maximum number of bytes waiting for the thread; default 8 MiB. Beyond it, new records are dropped and
   * counted.
   */
  readonly queueBytes?: number
  /** Maximum delay in milliseconds before a record is handed over for writing; default 20. */
  readonly flushMs?: number
  /** Encoders of the log's other targets. A target with the same record options shares one. Absent shares none. */
  readonly encoders?: RecordEncoders
  /** Called when a problem occurs, at most once per second. */
  readonly onProblem?: (message: string) => void
}

const QUEUE_BYTES = 8 * 1024 ** 2
const FLUSH_MS = 20

/** Opens the queue of a sink to the thread that writes its records. */
export function openQueue(
  options: SinkOptions,
  thread: Pick<RecordQueueOptions, 'program' | 'maxRecordBytes' | 'spool'>,
): RecordQueue {
  return new RecordQueue({
    encoder: (options.encoders ?? new RecordEncoders()).of(recordOptions(options)),
    queueBytes: options.queueBytes ?? QUEUE_BYTES,
    flushMs: options.flushMs ?? FLUSH_MS,
    // Problems also appear in the counts.
    onProblem: options.onProblem ?? (() => {}),
    ...thread,
  })
}

/** Returns the record options with defaults, so that equal options can be recognized. */
function recordOptions(options: SinkOptions): Required<RecordOptions> {
  const { fields, worker, version, configDigest } = options
  return {
    ...{ fields, worker, version, configDigest },
    node: options.node ?? hostname(),
    environment: options.environment ?? null,
    sensitiveNames: options.sensitiveNames ?? [],
    capture: options.capture ?? null,
    slowMs: options.slowMs ?? Number.POSITIVE_INFINITY,
  }
}

/**
 * Ensures that files can be created in a directory, creating it if necessary. @throws Error with the reason
 * and the remedy.
 */
export function makeWritable(dir: string, what: string, remedy: string): void {
  try {
    makeFolders(dir)
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`cannot write ${what} to ${dir}: ${reason}; ${remedy}`, { cause: error })
  }
}
