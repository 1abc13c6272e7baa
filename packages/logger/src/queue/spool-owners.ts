import type { SpoolHandovers, Takeover } from '@sluice/core'

/** Takeovers that a sink reports; a gateway whose workers end more often than that has other worries. */
const MAX_TAKEOVERS = 1000

/** Which part of a spool is this sink's: its thread's, those of threads that have ended, and what was taken over. */
export class SpoolOwners {
  /** '' while a new thread has not reported its name. */
  #owner: string
  /** By threads that have ended: what they had on disk. Their successor takes it over and counts it again. */
  readonly #ended = new Map<string, number>()
  readonly #takeovers: Takeover[] = []

  constructor(owner: string) {
    this.#owner = owner
  }

  /** On disk, of threads that have ended. */
  get endedRecords(): number {
    let sum = 0
    for (const records of this.#ended.values()) sum += records
    return sum
  }

  threadBegan(owner: string): void {
    this.#owner = owner
  }

  threadEnded(onDisk: number): void {
    if (onDisk > 0) this.#ended.set(this.#owner, onDisk)
    this.#owner = ''
  }

  /**
   * Notes what the thread has taken over.
   * @returns of these, how many this sink has counted already; and how many it had that are not there any more: they
   * were delivered by a thread that ended before it could report.
   */
  takeOver(takeovers: readonly Takeover[]): { readonly again: number; readonly delivered: number } {
    let again = 0
    let delivered = 0
    for (const takeover of takeovers) {
      const had = this.#ended.get(takeover.from)
      if (had === undefined) {
        if (this.#takeovers.length < MAX_TAKEOVERS) this.#takeovers.push(takeover)
        continue
      }
      this.#ended.delete(takeover.from)
      again += Math.min(had, takeover.records)
      delivered += Math.max(0, had - takeover.records)
    }
    return { again, delivered }
  }

  /** @param current what the thread has, on disk and in memory. */
  handovers(current: number): SpoolHandovers {
    const left = Object.fromEntries(this.#ended)
    if (this.#owner !== '' && current > 0) left[this.#owner] = current
    return { left, takeovers: [...this.#takeovers] }
  }
}
