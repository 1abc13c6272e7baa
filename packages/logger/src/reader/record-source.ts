import type { RecordFilter } from './record-filter.js'
import type { RecordView } from './record-view.js'

/** What to look for in a traffic log. */
export interface SearchOptions {
  readonly filter: RecordFilter
  /** The newest so many; Infinity for all. */
  readonly last: number
  /** Ends the iteration, without an error. */
  readonly signal: AbortSignal
}

/** What to read of a traffic log from its end. */
export interface TailOptions extends SearchOptions {
  /** Whether to go on with what is written from now on, until the signal. */
  readonly follow: boolean
}

/** A location that a traffic log can be read from. Whatever it is, a filter takes the same records. */
export interface RecordSource {
  /**
   * Everything that the filter takes, oldest first.
   * @throws SourceError while it is iterated.
   */
  search(options: SearchOptions): AsyncIterable<RecordView>
  /**
   * The newest records, and then those that come.
   * @throws SourceError while it is iterated.
   */
  tail(options: TailOptions): AsyncIterable<RecordView>
  /** What was read so far and is no record. */
  readonly skipped: number
  /** Lets go of connections. */
  close(): Promise<void>
}

/** Why a source cannot be read: nobody answers, credentials are refused, the log is not there, or something else. */
export type SourceFault = 'unreachable' | 'refused' | 'missing' | 'failed'

/** A source that cannot be read; the message says what to do. */
export class SourceError extends Error {
  readonly fault: SourceFault

  constructor(fault: SourceFault, message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'SourceError'
    this.fault = fault
  }
}
