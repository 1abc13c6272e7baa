import { linesBackward } from './lines-backward.js'
import { matchesFilter, type RecordFilter } from './record-filter.js'
import { OrderedRecords } from './record-order.js'
import { parseRecord, type RecordView, recordValue } from './record-view.js'
import type { Run } from './runs.js'

/**
 * A run is written in the order in which its calls ended, up to this: batches of a worker wait for each other, and a
 * clock may be put right by a little, ms.
 */
export const OUT_OF_ORDER_MS = 10_000

/** What to look for. */
export interface NewestOptions {
  readonly filter: RecordFilter
  readonly last: number
  readonly signal: AbortSignal
  /** Hears of a line that is no record. */
  readonly onDamaged: () => void
}

/**
 * The `last` records that began latest of those that a filter takes, oldest first. Each run is read backward, and only
 * so far that nothing before could have begun later than what was found: no call begins after it has ended.
 */
export async function newestRecords(
  runs: readonly Run[],
  { filter, last, signal, onDamaged }: NewestOptions,
): Promise<RecordView[]> {
  const found = new OrderedRecords()
  /** Records that began before this are not wanted. */
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

/** When the call of a record ended, which is when it was written. */
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
