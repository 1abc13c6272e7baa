import { lastLineEnd, linesBackward } from './lines-backward.js'
import { matchesFilter } from './record-filter.js'
import { OrderedRecords } from './record-order.js'
import { parseRecord, type RecordView, recordValue } from './record-view.js'
import type { MergeOptions } from './run-merge.js'
import type { RunPosition } from './run-reader.js'
import type { Run } from './runs.js'

/**
 * Tolerance for the order of records in a run, in milliseconds. Records are ordered by end time, except that
 * batches of a worker wait for each other and the clock may be adjusted.
 */
export const OUT_OF_ORDER_MS = 10_000

/** A run, and the position up to which to read it. */
export interface EndedRun {
  readonly run: Run
  readonly end: RunPosition
}

/** Returns a run up to its last complete line. A line that is being written counts as new. */
export async function endedRun(run: Run): Promise<EndedRun> {
  const segment = run.segments.at(-1)!
  return { run, end: { seq: segment.seq, offset: await lastLineEnd(segment.path, segment.bytes) } }
}

/** Options for `newestRecords`. */
export interface NewestOptions extends MergeOptions {
  readonly last: number
  readonly signal: AbortSignal
}

/**
 * Returns the `last` matching records with the latest start time, oldest first. Each run is read backward
 * until no earlier line can have a later start time, because a call cannot start after it has ended.
 */
export async function newestRecords(
  runs: readonly EndedRun[],
  { filter, last, signal, onDamaged }: NewestOptions,
): Promise<RecordView[]> {
  if (last === 0) return []
  const found = new OrderedRecords()
  /** Returns the time from which records are still wanted. */
  const sinceMs = (): number =>
    found.count < last ? (filter.sinceMs ?? Number.NEGATIVE_INFINITY) : found.oldest!.timeMs
  for (const run of [...runs].sort((a, b) => writtenMs(b) - writtenMs(a))) {
    if (writtenMs(run) < sinceMs() - OUT_OF_ORDER_MS) continue
    for await (const line of runBackward(run)) {
      if (signal.aborted) return []
      const view = parseRecord(line)
      if (view === null) {
        onDamaged()
        continue
      }
      if (endedMs(view) < sinceMs() - OUT_OF_ORDER_MS) break
      if (!matchesFilter(filter, view)) continue
      found.add(view)
      if (found.count > last) found.takeOldest()
    }
  }
  const records: RecordView[] = []
  for (let view = found.takeOldest(); view !== undefined; view = found.takeOldest()) records.push(view)
  return records
}

/** Returns the time at which the call of a record ended and the record was written. */
export function endedMs({ record, timeMs }: RecordView): number {
  const totalMs = recordValue(record, 't.total')
  return timeMs + (typeof totalMs === 'number' ? totalMs : 0)
}

async function* runBackward({ run, end }: EndedRun): AsyncGenerator<string, void, undefined> {
  for (const { seq, path, bytes } of [...run.segments].reverse())
    yield* linesBackward(path, seq === end.seq ? end.offset : bytes)
}

function writtenMs({ run }: EndedRun): number {
  return run.segments.at(-1)!.modifiedMs
}
