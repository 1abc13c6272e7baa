import { matchesFilter, type RecordFilter } from './record-filter.js'
import { parseRecord, type RecordView } from './record-view.js'
import { type RunPosition, RunReader } from './run-reader.js'
import type { Run } from './runs.js'

interface Source {
  readonly reader: RunReader
  /** Records that were read but not returned yet; at most one chunk. */
  waiting: RecordView[]
  /** Latest time in the last chunk. */
  reachedMs: number
}

/** Options for merging runs. */
export interface MergeOptions {
  readonly filter: RecordFilter
  /** Called for each line that is not a record. */
  readonly onDamaged: () => void
}

/** Result of one round over the runs. */
export interface Round {
  /** Records sorted by time. */
  readonly records: readonly RecordView[]
  readonly hasMore: boolean
}

/**
 * Merges runs by time, one chunk at a time. The order is exact unless records overlap by more than a chunk;
 * then the order of writing remains.
 */
export class RunMerge {
  readonly #sources = new Map<string, Source>()
  readonly #options: MergeOptions

  constructor(options: MergeOptions) {
    this.#options = options
  }

  /** Sets the position at which to start reading a run. The default is its first byte. */
  startAt(runId: string, position: RunPosition): void {
    this.#sources.set(runId, {
      reader: new RunReader(position),
      waiting: [],
      reachedMs: Number.NEGATIVE_INFINITY,
    })
  }

  /** Reads at most one chunk of each run. @param runs Current list of runs, oldest first. */
  async round(runs: readonly Run[]): Promise<Round> {
    this.#forgetOthers(runs)
    // Records after the horizon may still be preceded by records that were not read yet.
    let horizonMs = Number.POSITIVE_INFINITY
    for (const run of runs) {
      const source = this.#sourceOf(run, horizonMs)
      if (source === null) continue
      if (source.waiting.length === 0) await this.#fill(source, run)
      if (source.reader.hasMore(run)) horizonMs = Math.min(horizonMs, source.reachedMs)
    }
    return { records: this.#takeUntil(horizonMs), hasMore: horizonMs !== Number.POSITIVE_INFINITY }
  }

  /** Returns null for a run that starts after the horizon. It is opened later. */
  #sourceOf(run: Run, horizonMs: number): Source | null {
    const source = this.#sources.get(run.id)
    if (source !== undefined) return source
    if (run.startMs > horizonMs) return null
    this.startAt(run.id, { seq: run.segments[0]!.seq, offset: 0 })
    return this.#sources.get(run.id)!
  }

  async #fill(source: Source, run: Run): Promise<void> {
    const { filter, onDamaged } = this.#options
    for (const line of await source.reader.read(run)) {
      const view = parseRecord(line)
      if (view === null) {
        onDamaged()
        continue
      }
      source.reachedMs = Math.max(source.reachedMs, view.timeMs)
      if (matchesFilter(filter, view)) source.waiting.push(view)
    }
  }

  #takeUntil(horizonMs: number): RecordView[] {
    const records: RecordView[] = []
    for (const source of this.#sources.values()) {
      const late: RecordView[] = []
      for (const view of source.waiting) (view.timeMs <= horizonMs ? records : late).push(view)
      source.waiting = late
    }
    return records.sort((a, b) => a.timeMs - b.timeMs)
  }

  /** Removes runs whose segments are all deleted, after their records were returned. */
  #forgetOthers(runs: readonly Run[]): void {
    const present = new Set(runs.map((run) => run.id))
    for (const [id, source] of this.#sources) {
      if (!present.has(id) && source.waiting.length === 0) this.#sources.delete(id)
    }
  }
}
