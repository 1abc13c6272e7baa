import type { GeoOptions } from './geo/places.js'
import type { CaptureNarrowing } from './record/capture-narrowing.js'
import type { FieldSet } from './record/record-env.js'
import type { PrivacyOptions } from './redaction/privacy-options.js'

/** What every sink of a worker is opened with. */
export interface SinkOptions {
  readonly fields: FieldSet
  /** The worker's index. */
  readonly worker: number
  /** How many workers share the directory; default 8. */
  readonly writers?: number
  /** The machine or pod, as records tell it; default the host's name. */
  readonly node?: string
  /** Which gateway this is among several, as records tell it; null or absent: they do not. */
  readonly environment?: string | null
  /** The build of the gateway, as records tell it. */
  readonly version: string
  /** The digest of the configuration that serves now; asked for once a record. */
  readonly configDigest: () => string
  /** Header fields and query parameters that hold secrets, beside the well-known ones. */
  readonly sensitiveNames?: readonly string[]
  /** What is told of captured messages; null or absent: all that was captured. */
  readonly capture?: CaptureNarrowing | null
  /** An exchange that took longer tells as much as one that failed, ms; absent: none does for its time alone. */
  readonly slowMs?: number
  /** Tells where clients are, on the thread that writes; null or absent: not. */
  readonly geo?: GeoOptions | null
  /** What is kept out of the log, on the thread that writes; null or absent: nothing. */
  readonly privacy?: PrivacyOptions | null
  /** Bytes that may wait for the thread; default 8 MiB. Beyond, new records are dropped and counted. */
  readonly queueBytes?: number
  /** The longest time before a record is on its way to the disk, ms; default 20. */
  readonly flushMs?: number
  /** Told what goes wrong, once a second at most. */
  readonly onProblem?: (message: string) => void
}
