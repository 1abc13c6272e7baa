/** Runs jobs one at a time, in the order they came, and refuses those beyond its bound. */
export class SerialQueue {
  readonly #maxWaiting: number
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** Jobs that run or wait. */
  get size(): number {
    return this.#size
  }

  /** The job's result; null when the queue is full and the job was not taken. */
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
