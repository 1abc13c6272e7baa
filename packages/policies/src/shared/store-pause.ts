import { StateUnavailable } from '@sluice/core'

/** For so long nobody waits for a store that did not answer; then one call tries it again. */
const PAUSE_MS = 1000
/** A part of a store that is away is reported so often. */
const REPORT_EVERY_MS = 10_000

/**
 * Leaves a store alone for a while when it did not answer. One of which only a part is away, a node of a cluster, is asked
 * further on: it answers for its other keys, and refuses those of that node at once.
 */
export class StorePause {
  readonly #report: (error: unknown) => void
  /** 0: it answers. */
  #untilMono = 0
  #reportedMono = Number.NEGATIVE_INFINITY

  /** @param report hears why it does not answer, once. */
  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Whether it is left alone. Where that has just ended, one caller tries it while all others still go on without it. */
  isOn(): boolean {
    if (this.#untilMono === 0) return false
    const nowMono = performance.now()
    if (this.#untilMono > nowMono) return true
    this.#untilMono = nowMono + PAUSE_MS
    return false
  }

  /** The store has answered. */
  end(): void {
    this.#untilMono = 0
  }

  /** The store has not answered. */
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
