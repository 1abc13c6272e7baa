import { OrderedRecords } from './record-order.js'
import type { RecordSource, SearchOptions, TailOptions } from './record-source.js'
import type { RecordView } from './record-view.js'
import { type TrafficTail, tailSegments } from './tail.js'

/**
 * A record is written when its call ends, so one that took long stands behind younger ones. A search for everything
 * holds back so many records until their order is certain; a record that is further from its place comes too late.
 */
const HELD_BACK = 10_000

/** The traffic log in the files of a directory. */
export class FileSource implements RecordSource {
  readonly #dir: string
  #reading: TrafficTail | null = null

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Lines that were no records, such as one that was cut when its writer was killed. */
  get skipped(): number {
    return this.#reading?.skippedLines ?? 0
  }

  async *search({ filter, last, signal }: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    const isAll = last === Number.POSITIVE_INFINITY
    const bound = isAll ? HELD_BACK : last
    const held = new OrderedRecords()
    for await (const view of this.tail({
      filter,
      last: Number.POSITIVE_INFINITY,
      signal,
      follow: false,
    })) {
      held.add(view)
      if (held.count <= bound) continue
      const oldest = held.takeOldest()!
      if (isAll) yield oldest
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
