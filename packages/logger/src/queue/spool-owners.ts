import type { SpoolHandovers, Takeover } from '@sluice/core'

/** Maximum number of takeovers that a sink reports. */
const MAX_TAKEOVERS = 1000

/**
 * Parts of a spool that belong to this sink: those of its thread, of earlier threads, and those taken over
 * from others.
 */
export class SpoolOwners {
  /** Owner name of the current thread, or empty until it has reported its name. */
  #owner: string
  /**
   * Records that earlier threads left on disk, by owner. Their successor takes them over and counts them
   * again.
   */
  readonly #ended = new Map<string, number>()
  readonly #takeovers: Takeover[] = []
  /** Records taken over so far. */
  adopted = 0

  constructor(owner: string) {
    this.#owner = owner
  }

  /** Number of records that earlier threads left on disk. */
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
   * Records the takeovers of the thread.
   * @returns `again`: records that this sink had already counted. `delivered`: records that are gone, because
   * an earlier thread delivered them but ended before it could report that.
   */
  takeOver(takeovers: readonly Takeover[]): { readonly again: number; readonly delivered: number } {
    let again = 0
    let delivered = 0
    for (const takeover of takeovers) {
      this.adopted += takeover.records
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

  /** Returns the handovers to report. @param current Records of the current thread on disk and in memory. */
  handovers(current: number): SpoolHandovers {
    const left = Object.fromEntries(this.#ended)
    if (this.#owner !== '' && current > 0) left[this.#owner] = current
    return { left, takeovers: [...this.#takeovers] }
  }
}
