/** What waits for a connection. The links belong to the queue. */
export interface Queued {
  isQueued: boolean
  /** Monotonic clock, ms. */
  waitingSince: number
  queueNext: Queued | null
  queuePrevious: Queued | null
}

/**
 * Attempts that wait for a connection, first in, first out, no longer than for a bounded time; one that is given up leaves
 * from wherever it is.
 *
 * It is a linked list, and no `Set`: whenever a set has seen as many come and go as it has room for, V8 rebuilds its table,
 * and the old one keeps a reference to the new one. Once one of them is old, every later table gets old with it, and so
 * does everything that an attempt in it holds, long after its request is over.
 */
export class AttemptQueue<T extends Queued> {
  readonly #timeoutMs: number
  readonly #onTimeout: (attempt: T) => void
  #timer: NodeJS.Timeout | null = null
  #first: Queued | null = null
  #last: Queued | null = null
  #size = 0

  /**
   * @param timeoutMs longest wait.
   * @param onTimeout hears of each attempt that has waited for so long, and has left.
   */
  constructor(timeoutMs: number, onTimeout: (attempt: T) => void) {
    this.#timeoutMs = timeoutMs
    this.#onTimeout = onTimeout
  }

  /**
   * The first has waited for half of what one may: who came now would wait for longer than all that are served at once, so
   * that it is better refused. A burst is not, as long as it is worked off.
   */
  get isSlow(): boolean {
    return this.#first !== null && performance.now() - this.#first.waitingSince > this.#timeoutMs / 2
  }

  get size(): number {
    return this.#size
  }

  get first(): T | null {
    return this.#first as T | null
  }

  add(attempt: T): void {
    const last = this.#last
    attempt.isQueued = true
    attempt.waitingSince = performance.now()
    if (this.#timer === null) this.#setTimer(this.#timeoutMs)
    attempt.queuePrevious = last
    if (last === null) this.#first = attempt
    else last.queueNext = attempt
    this.#last = attempt
    this.#size++
  }

  /** One that is not queued is left alone. */
  delete(attempt: T): void {
    if (!attempt.isQueued) return
    const { queueNext: next, queuePrevious: previous } = attempt
    if (previous === null) this.#first = next
    else previous.queueNext = next
    if (next === null) this.#last = previous
    else next.queuePrevious = previous
    attempt.isQueued = false
    attempt.queueNext = null
    attempt.queuePrevious = null
    this.#size--
  }

  /** One timer for all: who has come first is due first. */
  readonly #expire = (): void => {
    const nowMono = performance.now()
    let first = this.first
    for (; first !== null && first.waitingSince + this.#timeoutMs <= nowMono; first = this.first) {
      this.delete(first)
      this.#onTimeout(first)
    }
    this.#timer = null
    if (first !== null) this.#setTimer(first.waitingSince + this.#timeoutMs - nowMono)
  }

  #setTimer(ms: number): void {
    this.#timer = setTimeout(this.#expire, ms).unref()
  }
}
