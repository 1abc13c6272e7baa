import { setTimeout as sleep } from 'node:timers/promises'
import type { estypes } from '@elastic/elasticsearch'
import type { Hit } from './hit.js'
import type { Snapshot } from './snapshot.js'
import { isPassing } from './source-error.js'

/** What is followed, until when, and who hears of problems. */
export interface Following {
  readonly query: estypes.QueryDslQueryContainer
  readonly signal: AbortSignal
  readonly report: (problem: string) => void
}

/** How often is looked for new records, ms; what is looked at is refreshed every second. */
const POLL_EVERY_MS = 1000
const MOST_PAUSE_MS = 15_000
/** A record is found when it can be searched at most so long after a younger one, by the records' times, ms. */
const LATE_MS = 300_000
/** The ids that each question carries, so at most about 0.7 MB of it. */
const MAX_KNOWN = 20_000

/**
 * Finds records as they become searchable, each once. A record bears the time when its call began, but comes when the
 * call has ended and was shipped, so it may be older than what was seen already. Therefore each look goes back beyond
 * the youngest record seen, and leaves out, by their ids, the documents that are known there:
 *
 * ```
 *                 floor                     youngest
 *   ────────────────┼──────────────────────────┼───────────────► time of the records
 *    never again    │ all but the known ids    │ all
 *                   │◄──── at most LATE_MS ───►│
 * ```
 *
 * The floor follows the youngest record and not the clock, unless the record is from the future, so records that waited while the cluster was away are found
 * however late they are. More than MAX_KNOWN ids raise the floor early.
 */
export class Follower {
  readonly #following: Following
  /** The documents at and above the floor, with their times. */
  readonly #known = new Map<string, number>()
  #floorMs: number | null = null
  #youngestMs = 0

  constructor(following: Following) {
    this.#following = following
  }

  /** Takes what is there now for known. */
  async passOver(snapshot: Snapshot): Promise<void> {
    const { query } = this.#following
    for await (const { documentId, timeMs } of snapshot.hits({ query, order: 'desc', wanted: MAX_KNOWN })) {
      if (this.#floorMs === null) {
        this.#youngestMs = timeMs
        this.#floorMs = this.#lateMs()
      }
      if (timeMs < this.#floorMs) break
      if (this.#known.size === MAX_KNOWN) {
        // Those of one millisecond stay together: above the floor all have to be known.
        this.#floorMs = timeMs + 1
        break
      }
      this.#known.set(documentId, timeMs)
    }
    this.#forgetBelowFloor()
  }

  /** The documents that come, until the signal. What passes by itself is reported once and tried again. */
  async *hits(
    snapshot: () => Promise<Snapshot>,
    explain: (error: unknown) => string,
  ): AsyncGenerator<Hit, void, undefined> {
    const { signal, report } = this.#following
    let failures = 0
    while (!signal.aborted) {
      await sleep(Math.min(POLL_EVERY_MS * 2 ** failures, MOST_PAUSE_MS), undefined, { signal })
      try {
        yield* this.#look(await snapshot())
        failures = 0
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error
        if (failures++ === 0) report(`${explain(error)}; it is tried again, and nothing is left out`)
      }
    }
  }

  async *#look(snapshot: Snapshot): AsyncGenerator<Hit, void, undefined> {
    try {
      const query = this.#unknown()
      for await (const hit of snapshot.hits({ query, order: 'asc', wanted: Number.POSITIVE_INFINITY })) {
        this.#known.set(hit.documentId, hit.timeMs)
        this.#youngestMs = Math.max(this.#youngestMs, hit.timeMs)
        yield hit
      }
    } finally {
      await snapshot.close()
      this.#raiseFloor()
    }
  }

  #unknown(): estypes.QueryDslQueryContainer {
    const floor =
      this.#floorMs === null
        ? []
        : [{ range: { '@timestamp': { gte: this.#floorMs, format: 'epoch_millis' } } }]
    return {
      bool: {
        filter: [this.#following.query, ...floor],
        must_not: { ids: { values: [...this.#known.keys()] } },
      },
    }
  }

  #raiseFloor(): void {
    if (this.#known.size === 0) return
    this.#floorMs = Math.max(this.#floorMs ?? Number.NEGATIVE_INFINITY, this.#lateMs())
    if (this.#known.size > MAX_KNOWN) {
      const youngestFirst = [...this.#known.values()].sort((a, b) => b - a)
      this.#floorMs = Math.max(this.#floorMs, youngestFirst[MAX_KNOWN]! + 1)
    }
    this.#forgetBelowFloor()
  }

  /** A gateway whose clock is ahead must not make the records of all others too old. */
  #lateMs(): number {
    return Math.min(this.#youngestMs, Date.now()) - LATE_MS
  }

  #forgetBelowFloor(): void {
    for (const [id, timeMs] of this.#known) {
      if (this.#floorMs !== null && timeMs < this.#floorMs) this.#known.delete(id)
    }
  }
}
