import type { GeoOptions } from '../preparation/places.js'
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
  /** Called when a problem occurs, at most once per second. */
  readonly onProblem?: (message: string) => void
}
