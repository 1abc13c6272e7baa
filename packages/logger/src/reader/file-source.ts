import { newestRecords } from './newest-records.js'
import { OrderedRecords } from './record-order.js'
import type { RecordSource, SearchOptions, TailOptions } from './record-source.js'
import type { RecordView } from './record-view.js'
import { firstRuns, type TrafficTail, tailSegments } from './tail.js'

/**
 * A record is written when its call ends, so one that took long stands after younger ones. A search for everything
 * holds back so many records until their order is certain; a record that is further from its place comes too late.
 */
const HELD_BACK = 10_000

/** The traffic log in the files of a directory. */
export class FileSource implements RecordSource {
  readonly #dir: string
  #reading: TrafficTail | null = null
  #damaged = 0

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Lines that were no records, such as one that was cut when its writer was killed. */
  get skipped(): number {
    return this.#damaged + (this.#reading?.skippedLines ?? 0)
  }

  search(options: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    return options.last === Number.POSITIVE_INFINITY ? this.#all(options) : this.#newest(options)
  }

  /** Backward, so that a short answer costs little however large the log is. */
  async *#newest(options: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    const runs = await firstRuns(this.#dir, options.filter.sinceMs)
    yield* await newestRecords(runs, { ...options, onDamaged: () => this.#damaged++ })
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
    this.#reading = tailSegments(this.#dir, options)
    return this.#reading
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
