import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Maximum work per turn of the event loop, in milliseconds. Large plans must not delay requests or the worker's
 * heartbeat.
 */
const SLICE_MS = 10

/** Cuts long work into slices, between which the event loop has its turn. */
export class Slices {
  #endMono = performance.now() + SLICE_MS

  /** True if the work has to wait for the next turn. */
  get isOver(): boolean {
    return performance.now() > this.#endMono
  }

  /** Resolves in the next turn. */
  async next(): Promise<void> {
    await nextTurn()
    this.#endMono = performance.now() + SLICE_MS
  }

  /** Does work that says where it can be interrupted. */
  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = work.next()
      if (step.done === true) return step.value
      if (this.isOver) await this.next()
    }
  }
}
