import { type Client, errors, type estypes } from '@elastic/elasticsearch'
import type { ElasticsearchAccess } from '../../elasticsearch/client.js'
import { type Hit, hitOf } from './hit.js'

/** Options for reading a snapshot. */
export interface Reading {
  readonly query: estypes.QueryDslQueryContainer
  readonly order: 'asc' | 'desc'
  /** Number of records wanted if known, to fetch no more than needed. Infinity for all. */
  readonly wanted: number
}

/** Keep-alive of the point in time. Must exceed the time that a user takes to read a page. */
const KEEP_ALIVE = '5m'
const MAX_PAGE = 1000
/**
 * Maximum size of a page in bytes. Records with bodies can be large, so a larger page is requested again in
 * smaller pieces.
 */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

/** Data stream to read. */
export interface SnapshotOptions extends Pick<ElasticsearchAccess, 'product'> {
  readonly dataStream: string
}

interface PointInTime {
  /** ID in a response of Elasticsearch. */
  readonly id?: string
  /** ID in a response of OpenSearch. */
  readonly pit_id?: string
}

/**
 * State of a data stream at one moment (a point in time in Elasticsearch). Pages neither repeat nor skip
 * records, whatever is written meanwhile.
 */
export class Snapshot {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #isOpenSearch: boolean
  #id = ''

  private constructor(client: Client, { product }: SnapshotOptions, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    this.#isOpenSearch = product === 'opensearch'
  }

  static async open(client: Client, options: SnapshotOptions, signal: AbortSignal): Promise<Snapshot> {
    const snapshot = new Snapshot(client, options, signal)
    const { id, pit_id } = await client.transport.request<PointInTime>(
      {
        method: 'POST',
        path: `/${encodeURIComponent(options.dataStream)}${snapshot.#path}`,
        querystring: { keep_alive: KEEP_ALIVE },
      },
      { signal },
    )
    snapshot.#id = id ?? pit_id ?? ''
    return snapshot
  }

  /** Path of the points in time. */
  get #path(): string {
    return this.#isOpenSearch ? '/_search/point_in_time' : '/_pit'
  }

  /** Yields the documents sorted by time, then by record ID. */
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
      // If the caller continues, the filter rejected some records, so fetch larger pages.
      size = Math.min(size * 4, largest)
    }
  }

  /** Closes the point in time. If that fails, the cluster closes it when its keep-alive expires. */
  async close(): Promise<void> {
    const body = this.#isOpenSearch ? { pit_id: [this.#id] } : { id: this.#id }
    await this.#client.transport.request({ method: 'DELETE', path: this.#path, body }).catch(() => {})
  }

  /** Returns a page, or null if it is too large. */
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
          sort: this.#isOpenSearch ? openSearchSort(order) : sortBy(order),
          track_total_hits: false,
          // Treat a failed shard as an error, because partial results would look complete.
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

/**
 * Returns the sort order. Times are strings, because nanoseconds exceed the precision of JavaScript numbers.
 */
function sortBy(order: 'asc' | 'desc'): estypes.Sort {
  const time = { order, format: 'strict_date_optional_time_nanos', numeric_type: 'date_nanos' } as const
  return [
    { '@timestamp': time },
    { id: { order, unmapped_type: 'keyword' } },
    { _shard_doc: { order } } as estypes.SortCombinations,
  ]
}

/**
 * Returns the sort order for OpenSearch. It has no format for times, so they are milliseconds. Its last
 * criterion differs between the documents of a shard only, which suffices because records have an ID.
 */
function openSearchSort(order: 'asc' | 'desc'): estypes.Sort {
  return [
    { '@timestamp': { order, numeric_type: 'date' } },
    { id: { order, unmapped_type: 'keyword' } },
    { _doc: { order } },
  ]
}

/** Returns true if the client aborted the request because the response is too large. */
function isTooLarge(error: unknown, signal: AbortSignal): boolean {
  return error instanceof errors.RequestAbortedError && !signal.aborted
}
