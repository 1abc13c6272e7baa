import { setTimeout as sleep } from 'node:timers/promises'
import type { estypes } from '@elastic/elasticsearch'
import { isPassing } from '../../elasticsearch/cluster-error.js'
import type { Hit } from './hit.js'
import type { Snapshot } from './snapshot.js'

/** Options for following a query. */
export interface Following {
  readonly query: estypes.QueryDslQueryContainer
  readonly signal: AbortSignal
  readonly report: (problem: string) => void
}

/** Polling interval in milliseconds. Elasticsearch refreshes a searched index every second. */
const POLL_EVERY_MS = 1000
const MAX_PAUSE_MS = 15_000
/**
 * Maximum delay of a record in milliseconds: it is found if it becomes searchable at most this long after a
 * newer one, by record time.
 */
const LATE_MS = 300_000
/** Maximum number of IDs to exclude per query, about 0.7 MB. */
const MAX_KNOWN = 20_000

/**
 * Finds records as they become searchable, each exactly once. A record has the start time of its call but is
 * shipped after the call has ended. It may therefore be older than records already seen. Each search goes
 * back before the newest record and excludes the known IDs there:
 *
 * ```
 *                 floor                     newest
 *   ────────────────┼──────────────────────────┼───────────────► time of the records
 *    not searched   │ all but the known IDs    │ all
 *                   │◄──── at most LATE_MS ───►│
 * ```
 *
 * The floor follows the newest record, limited by the current time. Records that waited during an outage of
 * the cluster are therefore found, however late they are. More than `MAX_KNOWN` IDs raise the floor early.
 */
export class Follower {
  readonly #following: Following
  /** Times of the known documents at or above the floor, by ID. */
  readonly #known = new Map<string, number>()
  #floorMs: number | null = null
  #youngestMs = 0

  constructor(following: Following) {
    this.#following = following
  }

  /** Marks the existing documents as known. */
  async passOver(snapshot: Snapshot): Promise<void> {
    const { query } = this.#following
    for await (const { documentId, timeMs } of snapshot.hits({ query, order: 'desc', wanted: MAX_KNOWN })) {
      if (this.#floorMs === null) {
        this.#youngestMs = timeMs
        this.#floorMs = this.#lateMs()
      }
      if (timeMs < this.#floorMs) break
      if (this.#known.size === MAX_KNOWN) {
        // Documents of the same millisecond must be treated alike: all documents at or above the floor must
        // be known.
        this.#floorMs = timeMs + 1
        break
      }
      this.#known.set(documentId, timeMs)
    }
    this.#forgetBelowFloor()
  }

  /** Yields new documents until the signal aborts. A temporary failure is reported once and retried. */
  async *hits(
    snapshot: () => Promise<Snapshot>,
    explain: (error: unknown) => string,
  ): AsyncGenerator<Hit, void, undefined> {
    const { signal, report } = this.#following
    let failures = 0
    while (!signal.aborted) {
      await sleep(Math.min(POLL_EVERY_MS * 2 ** failures, MAX_PAUSE_MS), undefined, { signal })
      try {
        yield* this.#look(await snapshot())
        failures = 0
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error
        if (failures++ === 0) report(`${explain(error)}; retrying, no records are skipped`)
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

  /**
   * Limits the newest time by the clock, so that one gateway with a fast clock does not hide the records of
   * others.
   */
  #lateMs(): number {
    return Math.min(this.#youngestMs, Date.now()) - LATE_MS
  }

  #forgetBelowFloor(): void {
    for (const [id, timeMs] of this.#known) {
      if (this.#floorMs !== null && timeMs < this.#floorMs) this.#known.delete(id)
    }
  }
}
