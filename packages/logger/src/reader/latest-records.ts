import { linesBackward } from './lines-backward.js'
import type { RecordView } from './record-view.js'
import type { RunPosition } from './run-reader.js'
import type { Run } from './runs.js'

/** A run, and the position up to which to read it. */
export interface EndedRun {
  readonly run: Run
  readonly end: RunPosition
}

/** Parses a line. Returns null if it is not a record or not wanted. */
export type Selector = (line: string) => RecordView | null

interface Head {
  readonly view: RecordView
  readonly rest: AsyncGenerator<RecordView, void, undefined>
}

/**
 * Returns the last `count` records that `select` accepts, oldest first. Reads runs backward, so that small
 * results are cheap even in a large log. A run is opened only when the search reaches its time.
 */
export async function latestRecords(
  runs: readonly EndedRun[],
  count: number,
  select: Selector,
): Promise<RecordView[]> {
  const waiting = [...runs].sort((a, b) => modifiedMs(a) - modifiedMs(b))
  const heads: Head[] = []
  const latest: RecordView[] = []
  while (latest.length < count) {
    await openReached(waiting, heads, select)
    const newest = heads.reduce<Head | null>(laterOf, null)
    if (newest === null) break
    latest.push(newest.view)
    heads.splice(heads.indexOf(newest), 1)
    await addHead(heads, newest.rest)
  }
  return latest.sort((a, b) => a.timeMs - b.timeMs)
}

/**
 * Opens the runs that may contain a newer record than every head. No record in a run is newer than the run's
 * last write.
 */
async function openReached(waiting: EndedRun[], heads: Head[], select: Selector): Promise<void> {
  while (waiting.length > 0) {
    const next = waiting.at(-1)!
    if (heads.some((head) => head.view.timeMs > modifiedMs(next))) return
    waiting.pop()
    await addHead(heads, recordsBackward(next, select))
  }
}

async function addHead(heads: Head[], records: Head['rest']): Promise<void> {
  const { value: view } = await records.next()
  if (view) heads.push({ view, rest: records })
}

async function* recordsBackward({ run, end }: EndedRun, select: Selector): Head['rest'] {
  for (let i = run.segments.length - 1; i >= 0; i--) {
    const segment = run.segments[i]!
    for await (const line of linesBackward(
      segment.path,
      segment.seq === end.seq ? end.offset : segment.bytes,
    )) {
      const view = select(line)
      if (view !== null) yield view
    }
  }
}

function laterOf(best: Head | null, head: Head): Head {
  return best === null || head.view.timeMs > best.view.timeMs ? head : best
}

function modifiedMs({ run }: EndedRun): number {
  return run.segments.at(-1)!.modifiedMs
}
