import { endedRun, newestRecords } from './newest-records.js'
import { OrderedRecords } from './record-order.js'
import type { RecordSource, SearchOptions, TailOptions } from './record-source.js'
import { recordStats, type StatsOptions, type TrafficStats } from './record-stats.js'
import type { RecordView } from './record-view.js'
import { firstRuns, TrafficTail } from './tail.js'

/**
 * Number of records to buffer for sorting. A record is written when its call ends, so a long call appears
 * after newer ones. A record that is further out of order is returned late.
 */
const HELD_BACK = 10_000

/** Traffic log in a directory of files. */
export class FileSource implements RecordSource {
  readonly #dir: string
  #reading: TrafficTail | null = null
  #damaged = 0

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Number of lines that are not records, such as one truncated when its writer was killed. */
  get skipped(): number {
    return this.#damaged + (this.#reading?.skippedLines ?? 0)
  }

  search(options: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    return options.last === Number.POSITIVE_INFINITY ? this.#all(options) : this.#newest(options)
  }

  /** Reads backward from the end, so that small results are cheap even in a large log. */
  async *#newest(options: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    const runs = await firstRuns(this.#dir, options.filter.sinceMs)
    const ended = await Promise.all(runs.map(endedRun))
    yield* await newestRecords(ended, { ...options, onDamaged: () => this.#damaged++ })
  }

  async *#all({ filter, signal }: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    const held = new OrderedRecords()
    const last = Number.POSITIVE_INFINITY
    for await (const view of this.tail({ filter, last, signal, follow: false })) {
      held.add(view)
      if (held.count > HELD_BACK) yield held.takeOldest()!
    }
    for (let view = held.takeOldest(); view !== undefined; view = held.takeOldest()) yield view
  }

  tail(options: TailOptions): TrafficTail {
    this.#reading = new TrafficTail(this.#dir, options)
    return this.#reading
  }

  stats(options: StatsOptions): Promise<TrafficStats> {
    const last = Number.POSITIVE_INFINITY
    return recordStats(this.tail({ ...options, last, follow: false }), options)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
