/** Runs jobs one at a time in order of arrival, and refuses those beyond its limit. */
export class SerialQueue {
  readonly #maxWaiting: number
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** Number of jobs running or waiting. */
  get size(): number {
    return this.#size
  }

  /** Runs a job after those before it. Resolves with its result, or null if the queue is full. */
  async run<T>(job: () => Promise<T>): Promise<T | null> {
    if (this.#size > this.#maxWaiting) return null
    this.#size++
    const turn = this.#last.then(job)
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      this.#size--
    }
  }
}
