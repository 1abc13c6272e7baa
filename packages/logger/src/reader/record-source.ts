import type { RecordFilter } from './record-filter.js'
import type { StatsOptions, TrafficStats } from './record-stats.js'
import type { RecordView } from './record-view.js'

/** Options for searching a traffic log. */
export interface SearchOptions {
  readonly filter: RecordFilter
  /** Maximum number of records, newest first. Infinity for all. */
  readonly last: number
  /** Ends the iteration without an error. */
  readonly signal: AbortSignal
}

/** Options for reading the end of a traffic log. */
export interface TailOptions extends SearchOptions {
  /** True to continue with new records until the signal aborts. */
  readonly follow: boolean
}

/** A readable traffic log. A filter matches the same records in every source. */
export interface RecordSource {
  /**
   * Yields all matching records, oldest first.
   * @throws SourceError during iteration.
   */
  search(options: SearchOptions): AsyncIterable<RecordView>
  /**
   * Yields the newest records, then new ones as they arrive.
   * @throws SourceError during iteration.
   */
  tail(options: TailOptions): AsyncIterable<RecordView>
  /** Computes statistics of all matching requests. Rejects with a SourceError. */
  stats(options: StatsOptions): Promise<TrafficStats>
  /** Number of items read so far that are not records. */
  readonly skipped: number
  /** Closes all connections. */
  close(): Promise<void>
}
