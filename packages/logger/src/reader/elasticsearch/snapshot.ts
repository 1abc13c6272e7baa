import { type Client, errors, type estypes } from '@elastic/elasticsearch'
import { type Hit, hitOf } from './hit.js'

/** What is read of a snapshot. */
export interface Reading {
  readonly query: estypes.QueryDslQueryContainer
  readonly order: 'asc' | 'desc'
  /** How many are wanted, as far as that is known, so that no more are fetched; Infinity for all. */
  readonly wanted: number
}

/** Longer than anybody who reads page after page keeps the next one waiting. */
const KEEP_ALIVE = '5m'
const MAX_PAGE = 1000
/** Records with bodies can be large; a page that is larger is asked for again in smaller pieces, bytes. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

/**
 * A data stream as it is at one moment, with what a refresh has made searchable (a point in time of Elasticsearch), so
 * that page after page neither repeats nor skips anything, whatever is written meanwhile.
 */
export class Snapshot {
  readonly #client: Client
  readonly #signal: AbortSignal
  #id: string

  private constructor(client: Client, signal: AbortSignal, id: string) {
    this.#client = client
    this.#signal = signal
    this.#id = id
  }

  static async open(client: Client, dataStream: string, signal: AbortSignal): Promise<Snapshot> {
    const { id } = await client.openPointInTime({ index: dataStream, keep_alive: KEEP_ALIVE }, { signal })
    return new Snapshot(client, signal, id)
  }

  /** In the order of time, then of the records' ids. */
  async *hits(reading: Reading): AsyncGenerator<Hit, void, undefined> {
    let largest = MAX_PAGE
    let size = Math.min(Math.max(reading.wanted, 1), largest)
    let after: estypes.SortResults | undefined
    for (;;) {
      const page = await this.#page(reading, size, after)
      if (page === null) {
        largest = Math.max(1, Math.floor(size / 4))
        size = largest
        continue
      }
      yield* page.map(hitOf)
      if (page.length < size) return
      after = page.at(-1)!.sort
      if (after === undefined) return
      // Whoever goes on did not find what was wanted, because the check of a filter refused it.
      size = Math.min(size * 4, largest)
    }
  }

  /** Elasticsearch forgets it in time by itself when it cannot be asked to. */
  async close(): Promise<void> {
    await this.#client.closePointInTime({ id: this.#id }).catch(() => {})
  }

  /** Null when it is too large. */
  async #page(
    { query, order }: Reading,
    size: number,
    after: estypes.SortResults | undefined,
  ): Promise<estypes.SearchHit[] | null> {
    try {
      const answer = await this.#client.search(
        {
          pit: { id: this.#id, keep_alive: KEEP_ALIVE },
          query,
          size,
          sort: sortBy(order),
          track_total_hits: false,
          // A shard that fails is an error: an answer without it would look complete.
          allow_partial_search_results: false,
          ...(after === undefined ? {} : { search_after: after }),
        },
        { signal: this.#signal, ...(size === 1 ? {} : { maxResponseSize: MAX_PAGE_BYTES }) },
      )
      this.#id = answer.pit_id ?? this.#id
      return answer.hits.hits
    } catch (error) {
      if (size > 1 && isTooLarge(error, this.#signal)) return null
      throw error
    }
  }
}

/** Times as text, because their nanoseconds are beyond what a number of JavaScript holds. */
function sortBy(order: 'asc' | 'desc'): estypes.Sort {
  const time = { order, format: 'strict_date_optional_time_nanos', numeric_type: 'date_nanos' } as const
  return [
    { '@timestamp': time },
    { id: { order, unmapped_type: 'keyword' } },
    { _shard_doc: { order } } as estypes.SortCombinations,
  ]
}

/** The client ends the request when the answer is larger than it may be. */
function isTooLarge(error: unknown, signal: AbortSignal): boolean {
  return error instanceof errors.RequestAbortedError && !signal.aborted
}
