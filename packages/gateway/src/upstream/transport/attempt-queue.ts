/** An attempt that waits for a connection. The link fields belong to the queue. */
export interface Queued {
  isQueued: boolean
  /** Start of the wait on the monotonic clock, in milliseconds. */
  waitingSince: number
  queueNext: Queued | null
  queuePrevious: Queued | null
}

/**
 * First-in, first-out queue of attempts that wait for a connection, with a maximum wait. An abandoned attempt can leave
 * from any position.
 *
 * This is a linked list because of garbage collection. V8 replaces the table of a `Set` after enough insertions and
 * deletions, and the old table refers to the new one. Once one table is in the old generation, all later ones and the
 * attempts in them end up there too, long after their requests are over.
 */
export class AttemptQueue<T extends Queued> {
  readonly #timeoutMs: number
  readonly #onTimeout: (attempt: T) => void
  #timer: NodeJS.Timeout | null = null
  #first: Queued | null = null
  #last: Queued | null = null
  #size = 0

  /**
   * @param timeoutMs maximum wait.
   * @param onTimeout called for each attempt that has waited that long, after its removal.
   */
  constructor(timeoutMs: number, onTimeout: (attempt: T) => void) {
    this.#timeoutMs = timeoutMs
    this.#onTimeout = onTimeout
  }

  /**
   * True if the first attempt has waited for half of the maximum. A new one would wait even longer, so it is better
   * refused. A burst that is being served does not count.
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

  /** Removes an attempt. Does nothing if it is not queued. */
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

  /** Expires attempts. One timer is enough, because the oldest attempt expires first. */
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
