import { Histogram } from '../telemetry/histogram.js'
import type { Sample } from '../telemetry/sample.js'

/**
 * Interval in milliseconds for measuring the event loop. 50 measurements per second cost a busy worker no
 * measurable CPU time.
 */
const RESOLUTION_MS = 20

/** Upper bounds of the delay buckets in milliseconds. Timers have a resolution of 1 ms. */
const BOUNDS_MS = [1, 2, 3, 5, 7.5, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000, 2000] as const

/**
 * Measures the event loop's delay: the longest since the last heartbeat, and a histogram since the worker's
 * start.
 */
export class LoopLag {
  readonly #delays = new Histogram(BOUNDS_MS)
  readonly #timer: NodeJS.Timeout
  readonly #onMeasured: () => void
  #longestMs = 0
  #lastMono = performance.now()

  /** @param onMeasured called after each measurement. */
  constructor(onMeasured: () => void) {
    this.#onMeasured = onMeasured
    this.#timer = setInterval(() => this.#measure(), RESOLUTION_MS).unref()
  }

  /** Longest delay since the last `takeMs`, in milliseconds; 0 if the loop kept pace. */
  get longestMs(): number {
    return Math.round(this.#longestMs * 10) / 10
  }

  /** Returns the longest delay and resets it. */
  takeMs(): number {
    const { longestMs } = this
    this.#longestMs = 0
    return longestMs
  }

  /** Returns the delays as a histogram. The labels name the worker. */
  samples(labels: string): Sample[] {
    return this.#delays.samples('gw_worker_loop_delay_seconds', labels)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #measure(): void {
    const nowMono = performance.now()
    const lateMs = Math.max(0, nowMono - this.#lastMono - RESOLUTION_MS)
    this.#lastMono = nowMono
    this.#longestMs = Math.max(this.#longestMs, lateMs)
    this.#delays.record(lateMs)
    this.#onMeasured()
    // A hang skips measurements. Count each of them as late, otherwise the hang would count only once.
    for (let leftMs = lateMs - RESOLUTION_MS; leftMs > 0; leftMs -= RESOLUTION_MS) this.#delays.record(leftMs)
  }
}
