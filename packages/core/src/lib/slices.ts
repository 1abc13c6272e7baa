import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises'
import { collectYoung } from './collect-young.js'

/**
 * Maximum work per turn of the event loop, in milliseconds. Large plans and schemas must not delay requests or the
 * worker's heartbeat.
 */
const SLICE_MS = 5

/** Splits long work into slices, so that the event loop can run in between. */
export class Slices {
  readonly #isServing: boolean
  #startMono = performance.now()

  /**
   * @param isServing true if this thread serves requests (default: false). Half of the time is then left for them, because
   * a proxied request waits for its upstream between turns. The memory of each slice is collected after the slice.
   */
  constructor(isServing = false) {
    this.#isServing = isServing
  }

  /** True if the current slice is used up. */
  get isOver(): boolean {
    return performance.now() - this.#startMono > SLICE_MS
  }

  /** Waits for the next turn of the event loop and starts a new slice. */
  async next(): Promise<void> {
    if (this.#isServing) {
      collectYoung()
      await rest(performance.now() - this.#startMono)
    } else await nextTurn()
    this.#startMono = performance.now()
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
