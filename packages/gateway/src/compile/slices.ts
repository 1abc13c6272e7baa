import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * How long something is done in one turn: large plans must not stall requests, nor the sign of life without which a worker is
 * taken for one that hangs.
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
