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
  /** The machine or pod, as records name it; default the host's name. */
  readonly node?: string
  /** Which gateway this is among several, as records name it; null or absent: they do not. */
  readonly environment?: string | null
  /** The build of the gateway, as records name it. */
  readonly version: string
  /** The digest of the configuration that serves now; asked for once a record. */
  readonly configDigest: () => string
  /** Header fields and query parameters that hold secrets, beside the well-known ones. */
  readonly sensitiveNames?: readonly string[]
  /** What is recorded of captured messages; null or absent: all that was captured. */
  readonly capture?: CaptureNarrowing | null
  /** The record of an exchange that took longer holds as much as that of one that failed, ms; absent: none does for its time alone. */
  readonly slowMs?: number
  /** Records where clients are, on the thread that writes; null or absent: not. */
  readonly geo?: GeoOptions | null
  /** What is kept out of the log, on the thread that writes; null or absent: nothing. */
  readonly privacy?: PrivacyOptions | null
  /** Bytes that may wait for the thread; default 8 MiB. Beyond, new records are dropped and counted. */
  readonly queueBytes?: number
  /** The longest time before a record is on its way to the disk, ms; default 20. */
  readonly flushMs?: number
  /** Hears what goes wrong, once a second at most. */
  readonly onProblem?: (message: string) => void
}
