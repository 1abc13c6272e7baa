import type { RecordView } from './record-view.js'

/** Compares records by time, then by ID. Every source can sort in this order. */
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
 * Priority queue of records by age (a binary heap). Keeping the newest few of many records takes little
 * memory and time.
 *
 * ```
 *            [0] oldest
 *           /   \
 *        [1]     [2]        a parent is never newer than its children
 *        / \     /
 *     [3]  [4] [5]
 * ```
 */
export class OrderedRecords {
  readonly #heap: RecordView[] = []

  get count(): number {
    return this.#heap.length
  }

  /** The oldest record, or undefined if the queue is empty. */
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

  /** Removes and returns the oldest record, or undefined if the queue is empty. */
  takeOldest(): RecordView | undefined {
    const heap = this.#heap
    const oldest = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return oldest
    this.#sink(last)
    return oldest
  }

  /** Places a record at the root and moves it down to its position. */
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
