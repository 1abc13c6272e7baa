import { setTimeout as sleep } from 'node:timers/promises'
import { SourceError } from '../lib/source-error.js'
import { firstLineSince } from './first-line.js'
import { type EndedRun, latestRecords } from './latest-records.js'
import { lastLineEnd } from './lines-backward.js'
import { matchesFilter } from './record-filter.js'
import type { TailOptions } from './record-source.js'
import { parseRecord, type RecordView } from './record-view.js'
import { RunMerge } from './run-merge.js'
import { isMissing, listRuns, type Run } from './runs.js'

/** Polling interval of a followed directory in milliseconds. */
const POLL_EVERY_MS = 200

/**
 * Reads the segments of all workers, merged by time as far as possible. Iterating throws a SourceError if the
 * directory does not exist.
 */
export function tailSegments(dir: string, options: TailOptions): TrafficTail {
  return new TrafficTail(dir, options)
}

/** Records of a traffic log. Can be iterated once. */
export class TrafficTail implements AsyncIterable<RecordView> {
  readonly #dir: string
  readonly #options: TailOptions
  #skippedLines = 0

  constructor(dir: string, options: TailOptions) {
    this.#dir = dir
    this.#options = options
  }

  /** Number of lines so far that are not records, such as one truncated when its writer was killed. */
  get skippedLines(): number {
    return this.#skippedLines
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordView, void, undefined> {
    const { follow, last, signal } = this.#options
    const merge = new RunMerge(
      (line) => this.#parse(line),
      (view) => matchesFilter(this.#options.filter, view),
    )
    const { sinceMs } = this.#options.filter
    const runs = await firstRuns(this.#dir, sinceMs)
    if (last !== Number.POSITIVE_INFINITY) {
      const ended = await Promise.all(runs.map(endOf))
      for (const { run, end } of ended) merge.startAt(run.id, end)
      for (const view of await latestRecords(ended, last, (line) => this.#select(line))) {
        if (signal.aborted) return
        yield view
      }
      if (!follow) return
    } else if (sinceMs !== null) {
      for (const { id, segments } of runs) {
        const { seq, path, bytes } = segments[0]!
        merge.startAt(id, { seq, offset: await firstLineSince(path, bytes, sinceMs) })
      }
    }
    yield* this.#forward(merge)
  }

  async *#forward(merge: RunMerge): AsyncGenerator<RecordView, void, undefined> {
    const { follow, signal } = this.#options
    while (!signal.aborted) {
      const { records, hasMore } = await merge.round(await this.#runs())
      for (const view of records) {
        if (signal.aborted) return
        yield view
      }
      if (hasMore) continue
      if (!follow) return
      await pause(signal)
    }
  }

  /** Lists the runs. A followed directory that was removed may come back. */
  async #runs(): Promise<Run[]> {
    try {
      return await listRuns(this.#dir, this.#options.filter.sinceMs)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  #select(line: string): RecordView | null {
    const view = this.#parse(line)
    return view !== null && matchesFilter(this.#options.filter, view) ? view : null
  }

  #parse(line: string): RecordView | null {
    const view = parseRecord(line)
    if (view === null) this.#skippedLines++
    return view
  }
}

/** Lists the runs of a traffic log. @throws SourceError if the directory does not exist. */
export async function firstRuns(dir: string, sinceMs: number | null): Promise<Run[]> {
  try {
    return await listRuns(dir, sinceMs)
  } catch (error) {
    if (!isMissing(error)) throw error
    const message = `no traffic log found in ${dir}; name the folder with --dir, or the document with -c`
    throw new SourceError('missing', message, error)
  }
}

/** Returns the end of the last complete line. A line that is being written counts as new. */
async function endOf(run: Run): Promise<EndedRun> {
  const segment = run.segments.at(-1)!
  return { run, end: { seq: segment.seq, offset: await lastLineEnd(segment.path, segment.bytes) } }
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(POLL_EVERY_MS, undefined, { signal })
  } catch {
    // Aborted. The loop checks the signal.
  }
}
