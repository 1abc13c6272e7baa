import { linesBackward } from './lines-backward.js'
import { endedMs, endedRun } from './newest-records.js'
import { matchesFilter, type RecordFilter } from './record-filter.js'
import { parseRecord, type RecordView } from './record-view.js'
import type { Run } from './runs.js'
import { firstRuns } from './tail.js'

/** Options for `latestRecords`. */
export interface LatestOptions {
  readonly filter: RecordFilter
  /** Maximum number of records. */
  readonly last: number
  /** Time before which records ended that are not wanted, in milliseconds since the epoch. Null for no limit. */
  readonly endedSinceMs: number | null
  /** Text that a line must contain to be parsed; empty for all lines. */
  readonly text: string
  /** Maximum number of characters to read. */
  readonly maxChars: number
}

/** Result of `latestRecords`. */
export interface LatestRecords {
  /** Records, the last ended first. */
  readonly views: readonly RecordView[]
  /** False if the search ended at `maxChars`. */
  readonly isComplete: boolean
}

/** Maximum number of runs that share what may be read. Older ones get what the newer ones leave. */
const MAX_SHARES = 8

/**
 * Returns the matching records that ended last. Unlike `FileSource.search`, it reads a bounded part of the log, so that
 * it can be repeated every second. It misses records that were written out of order.
 * @throws SourceError if the directory does not exist.
 */
export async function latestRecords(dir: string, options: LatestOptions): Promise<LatestRecords> {
  const runs = (await firstRuns(dir, options.endedSinceMs)).sort((a, b) => writtenMs(b) - writtenMs(a))
  let views: readonly RecordView[] = []
  let left = options.maxChars
  let isComplete = true
  for (const [i, run] of runs.entries()) {
    const isOlder = views.length === options.last && writtenMs(run) < endedMs(views.at(-1)!)
    if (isOlder) break
    const share = Math.ceil(left / Math.min(runs.length - i, MAX_SHARES))
    const found = await latestOfRun(run, options, share)
    left -= found.chars
    isComplete &&= found.isComplete
    views = [...views, ...found.views].sort((a, b) => endedMs(b) - endedMs(a)).slice(0, options.last)
  }
  return { views, isComplete }
}

/** Reads a run backward until it has enough records, or no earlier line can be wanted. */
async function latestOfRun(
  run: Run,
  { filter, last, endedSinceMs, text }: LatestOptions,
  maxChars: number,
): Promise<LatestRecords & { readonly chars: number }> {
  const { end } = await endedRun(run)
  const views: RecordView[] = []
  let chars = 0
  for (const { seq, path, bytes } of run.segments.toReversed()) {
    for await (const line of linesBackward(path, seq === end.seq ? end.offset : bytes)) {
      if (chars >= maxChars) return { views, chars, isComplete: false }
      chars += line.length
      if (text !== '' && !line.includes(text)) continue
      const view = parseRecord(line)
      if (view === null) continue
      if (endedSinceMs !== null && endedMs(view) < endedSinceMs) return { views, chars, isComplete: true }
      if (!matchesFilter(filter, view)) continue
      views.push(view)
      if (views.length === last) return { views, chars, isComplete: true }
    }
  }
  return { views, chars, isComplete: true }
}

function writtenMs({ segments }: Run): number {
  return segments.at(-1)!.modifiedMs
}
