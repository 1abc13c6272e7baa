import { setTimeout as sleep } from 'node:timers/promises'
import { SourceError } from '../lib/source-error.js'
import { firstLineSince } from './first-line.js'
import { endedRun, newestRecords } from './newest-records.js'
import type { TailOptions } from './record-source.js'
import type { RecordView } from './record-view.js'
import { RunMerge } from './run-merge.js'
import { isMissing, listRuns, type Run } from './runs.js'

/** Polling interval of a followed directory in milliseconds. */
const POLL_EVERY_MS = 200

/**
 * Records of the segments of all workers, merged by time as far as possible. Can be iterated once. Iterating
 * throws a SourceError if the directory does not exist.
 */
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
    const { filter, follow, last, signal } = this.#options
    const onDamaged = (): void => {
      this.#skippedLines++
    }
    const merge = new RunMerge({ filter, onDamaged })
    const { sinceMs } = filter
    const runs = await firstRuns(this.#dir, sinceMs)
    if (last !== Number.POSITIVE_INFINITY) {
      const ended = await Promise.all(runs.map(endedRun))
      for (const { run, end } of ended) merge.startAt(run.id, end)
      yield* await newestRecords(ended, { filter, last, signal, onDamaged })
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
      // If the signal aborts the wait, the loop ends.
      await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => {})
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
