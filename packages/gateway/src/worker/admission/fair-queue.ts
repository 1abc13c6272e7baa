/** Number of lanes. Callers whose keys share a lane also share its turns. */
const LANES = 64

/** An entry of a `FairQueue`. The fields belong to the queue. */
export interface Queueable {
  nextInLane: Queueable | null
}

interface Lane {
  first: Queueable | null
  last: Queueable | null
  length: number
  /** Next lane with entries, in a ring. */
  next: Lane | null
}

/**
 * A queue that takes entries of different keys in turn, and those of one key in their order. A key with many entries
 * then does not delay the others (stochastic fair queueing, McKenney 1990).
 */
export class FairQueue<T extends Queueable> {
  readonly #lanes: readonly Lane[] = Array.from({ length: LANES }, () => ({
    first: null,
    last: null,
    length: 0,
    next: null,
  }))
  /** The lane that was served last, or null if all are empty. */
  #current: Lane | null = null
  #active = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** True if the lane of this key has at least half of the average number of entries. */
  isBusy(key: number): boolean {
    return this.#laneOf(key).length * this.#active * 2 >= this.#size
  }

  /** @param key a whole number. */
  add(entry: T, key: number): void {
    const lane = this.#laneOf(key)
    entry.nextInLane = null
    if (lane.last === null) {
      lane.first = entry
      this.#activate(lane)
    } else lane.last.nextInLane = entry
    lane.last = entry
    lane.length++
    this.#size++
  }

  take(): T | null {
    const current = this.#current
    if (current === null) return null
    const lane = current.next!
    const entry = lane.first!
    lane.first = entry.nextInLane
    entry.nextInLane = null
    lane.length--
    this.#size--
    if (lane.first === null) {
      lane.last = null
      this.#active--
      current.next = lane.next
      this.#current = lane === current ? null : current
      lane.next = null
    } else this.#current = lane
    return entry as T
  }

  /** Adds a lane behind all others. */
  #activate(lane: Lane): void {
    const current = this.#current
    lane.next = current === null ? lane : current.next
    if (current !== null) current.next = lane
    this.#current = lane
    this.#active++
  }

  #laneOf(key: number): Lane {
    return this.#lanes[(key >>> 0) % LANES]!
  }
}
