import type { GeoOptions } from './geo/places.js'
import type { CaptureNarrowing } from './record/capture-narrowing.js'
import type { FieldSet } from './record/record-env.js'
import type { PrivacyOptions } from './redaction/privacy-options.js'

/** Options for every sink of a worker. */
export interface SinkOptions {
  readonly fields: FieldSet
  /** Index of the worker. */
  readonly worker: number
  /** Number of workers that share the directory; default 8. */
  readonly writers?: number
  /** Name of the machine or pod in records; default the host name. */
  readonly node?: string
  /** Name of the environment in records, to distinguish several gateways. Null or absent omits it. */
  readonly environment?: string | null
  /** Version of the gateway in records. */
  readonly version: string
  /** Returns the digest of the active configuration. Called once per record. */
  readonly configDigest: () => string
  /** Header fields and query parameters that hold secrets, in addition to the well-known ones. */
  readonly sensitiveNames?: readonly string[]
  /** Restrictions on captured messages in records. Null or absent records all that was captured. */
  readonly capture?: CaptureNarrowing | null
  /**
   * Duration in milliseconds from which an exchange is recorded in as much detail as a failed one. Absent
   * disables this.
   */
  readonly slowMs?: number
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
