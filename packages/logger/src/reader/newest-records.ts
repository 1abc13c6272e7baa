import { linesBackward } from './lines-backward.js'
import { matchesFilter, type RecordFilter } from './record-filter.js'
import { OrderedRecords } from './record-order.js'
import { parseRecord, type RecordView, recordValue } from './record-view.js'
import type { Run } from './runs.js'

/**
 * Tolerance for the order of records in a run, in milliseconds. Records are ordered by end time, except that
 * batches of a worker wait for each other and the clock may be adjusted.
 */
export const OUT_OF_ORDER_MS = 10_000

/** Options for `newestRecords`. */
export interface NewestOptions {
  readonly filter: RecordFilter
  readonly last: number
  readonly signal: AbortSignal
  /** Called for each line that is not a record. */
  readonly onDamaged: () => void
}

/**
 * Returns the `last` matching records with the latest start time, oldest first. Each run is read backward
 * until no earlier line can have a later start time, because a call cannot start after it has ended.
 */
export async function newestRecords(
  runs: readonly Run[],
  { filter, last, signal, onDamaged }: NewestOptions,
): Promise<RecordView[]> {
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

async function* runBackward({ segments }: Run): AsyncGenerator<string, void, undefined> {
  for (const { path, bytes } of [...segments].reverse()) yield* linesBackward(path, bytes)
}

function writtenMs({ segments }: Run): number {
  return segments.at(-1)!.modifiedMs
}
