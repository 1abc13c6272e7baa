import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Maximum work per turn of the event loop, in milliseconds. Large plans and schemas must not delay requests or the
 * worker's heartbeat.
 */
const SLICE_MS = 10

/** Splits long work into slices, so that the event loop can run in between. */
export class Slices {
  #endMono = performance.now() + SLICE_MS

  /** True if the current slice is used up. */
  get isOver(): boolean {
    return performance.now() > this.#endMono
  }

  /** Waits for the next turn of the event loop and starts a new slice. */
  async next(): Promise<void> {
    await nextTurn()
    this.#endMono = performance.now() + SLICE_MS
  }

  /** Resolves at once, or in the next turn if this one is over. */
  async pause(): Promise<void> {
    if (this.isOver) await this.next()
  }

  /** Runs a generator that yields where it can be interrupted. */
  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = work.next()
      if (step.done === true) return step.value
      if (this.isOver) await this.next()
    }
  }
}
