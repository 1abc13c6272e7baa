import type { RecordView } from './record-view.js'

/** The order in which a search gives records: by time, then by id, which every source can sort by. */
export function byTime(a: RecordView, b: RecordView): number {
  return a.timeMs - b.timeMs || compare(idOf(a), idOf(b)) || compare(a.line, b.line)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function idOf({ record }: RecordView): string {
  const id = record['id']
  return typeof id === 'string' ? id : ''
}

/**
 * The records of a search, of which the oldest can be taken out: a binary heap, so that the newest few of many cost
 * little memory and time.
 *
 * ```
 *            [0] the oldest
 *           /   \
 *        [1]     [2]        a parent is never younger than its children
 *        / \     /
 *     [3]  [4] [5]
 * ```
 */
export class OrderedRecords {
  readonly #heap: RecordView[] = []

  get count(): number {
    return this.#heap.length
  }

  /** Stays where it is; undefined when there is none. */
  get oldest(): RecordView | undefined {
    return this.#heap[0]
  }

  add(view: RecordView): void {
    const heap = this.#heap
    let at = heap.push(view) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (byTime(heap[parent]!, view) <= 0) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = view
  }

  /** Takes the oldest out; undefined when there is none. */
  takeOldest(): RecordView | undefined {
    const heap = this.#heap
    const oldest = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return oldest
    this.#sink(last)
    return oldest
  }

  /** Puts a record at the top, and moves it down to its place. */
  #sink(view: RecordView): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && byTime(heap[child + 1]!, heap[child]!) < 0) child++
      if (byTime(view, heap[child]!) <= 0) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = view
  }
}
