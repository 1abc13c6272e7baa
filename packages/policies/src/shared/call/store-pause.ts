import { StateUnavailable } from '@sluice/core'

/** Time in milliseconds without store calls after a failure. Then one call tries the store again. */
const PAUSE_MS = 1000
/** Minimum interval of reports about a partial outage, in milliseconds. */
const REPORT_EVERY_MS = 10_000

/**
 * Pauses the calls to a store after a failure. A cluster with an unavailable node is not paused: it serves its other
 * keys, and fails fast for those of that node.
 */
export class StorePause {
  readonly #report: (error: unknown) => void
  /** End of the pause, or 0 while the store responds. */
  #untilMono = 0
  #reportedMono = Number.NEGATIVE_INFINITY

  /** Creates it without a pause. @param report is called once with the reason of an outage. */
  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Calls the store. Resolves with null during a pause, and if the call fails. */
  async try<T>(call: () => Promise<T>): Promise<T | null> {
    if (this.isOn()) return null
    try {
      const answer = await call()
      this.end()
      return answer
    } catch (error) {
      this.begin(error)
      return null
    }
  }

  /** Returns true during a pause. After it, one caller tries the store while all others continue without it. */
  isOn(): boolean {
    if (this.#untilMono === 0) return false
    const nowMono = performance.now()
    if (this.#untilMono > nowMono) return true
    this.#untilMono = nowMono + PAUSE_MS
    return false
  }

  /** Records a response of the store. */
  end(): void {
    this.#untilMono = 0
  }

  /** Records a failed call. */
  begin(error: unknown): void {
    const nowMono = performance.now()
    const isPartial = error instanceof StateUnavailable && error.isPartial
    const isNew = isPartial ? nowMono - this.#reportedMono >= REPORT_EVERY_MS : this.#untilMono === 0
    this.#untilMono = isPartial ? 0 : nowMono + PAUSE_MS
    if (!isNew) return
    this.#reportedMono = nowMono
    this.#report(error)
  }
}
