import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Milliseconds between two looks at the event loop; what is measured includes them. */
const RESOLUTION_MS = 20

/** How late the event loop has been. */
export class LoopLag {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#delays.enable()
  }

  /** The longest delay since the last call, in milliseconds; 0 for a loop that kept pace. */
  takeMs(): number {
    const longestMs = this.#delays.count === 0 ? 0 : this.#delays.max / 1e6 - RESOLUTION_MS
    this.#delays.reset()
    return Math.max(0, Math.round(longestMs * 10) / 10)
  }

  close(): void {
    this.#delays.disable()
  }
}
