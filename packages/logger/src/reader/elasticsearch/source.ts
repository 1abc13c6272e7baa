import type { Client, estypes } from '@elastic/elasticsearch'
import { type ElasticsearchAccess, elasticsearchClient } from '../../elasticsearch/client.js'
import { sourceError } from '../../elasticsearch/cluster-error.js'
import { matchesFilter, type RecordFilter } from '../record-filter.js'
import type { RecordSource, SearchOptions, TailOptions } from '../record-source.js'
import { recordStats, type StatsOptions, type TrafficStats } from '../record-stats.js'
import type { RecordView } from '../record-view.js'
import { Follower } from './follower.js'
import type { Hit } from './hit.js'
import { fieldTypes, queryOf } from './query.js'
import { Snapshot } from './snapshot.js'
import { clusterStats } from './stats.js'

/** Options for reading a data stream. */
export interface ElasticsearchSourceOptions extends ElasticsearchAccess {
  readonly dataStream: string
  /** Called for temporary problems while following. */
  readonly onProblem: (problem: string) => void
}

/** Traffic log in a data stream of Elasticsearch or OpenSearch. Only needs the privilege `read` on the data stream. */
export class ElasticsearchSource implements RecordSource {
  readonly #options: ElasticsearchSourceOptions
  readonly #client: Client
  #skipped = 0

  /** @throws Error if the CA file cannot be read. */
  constructor(options: ElasticsearchSourceOptions) {
    this.#options = options
    this.#client = elasticsearchClient(options)
  }

  /** Number of documents that are not records. */
  get skipped(): number {
    return this.#skipped
  }

  search(options: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    return this.#explained(options.signal, this.#search(options))
  }

  tail(options: TailOptions): AsyncGenerator<RecordView, void, undefined> {
    return this.#explained(options.signal, options.follow ? this.#follow(options) : this.#search(options))
  }

  async stats(options: StatsOptions): Promise<TrafficStats> {
    try {
      const stats = await clusterStats(this.#client, this.#options, options)
      if (stats !== null) return stats
    } catch (error) {
      throw sourceError(error, this.#options)
    }
    return recordStats(this.search({ ...options, last: Number.POSITIVE_INFINITY }), options)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async *#search({ filter, last, signal }: SearchOptions): AsyncGenerator<RecordView, void, undefined> {
    const snapshot = await this.#snapshot(signal)
    try {
      const query = await this.#query(filter, signal)
      if (last === Number.POSITIVE_INFINITY) {
        yield* this.#wanted(snapshot.hits({ query, order: 'asc', wanted: last }), filter)
      } else yield* await this.#newest(snapshot, { query, filter, last })
    } finally {
      await snapshot.close()
    }
  }

  async *#follow({ filter, last, signal }: TailOptions): AsyncGenerator<RecordView, void, undefined> {
    const query = await this.#query(filter, signal)
    const follower = new Follower({ query, signal, report: this.#options.onProblem })
    const snapshot = await this.#snapshot(signal)
    let newest: readonly RecordView[]
    try {
      newest = await this.#newest(snapshot, { query, filter, last })
      await follower.passOver(snapshot)
    } finally {
      await snapshot.close()
    }
    yield* newest
    const location = this.#options
    const hits = follower.hits(
      () => this.#snapshot(signal),
      (error) => sourceError(error, location).message,
    )
    yield* this.#wanted(hits, filter)
  }

  /** Returns the newest records, oldest first. */
  async #newest(
    snapshot: Snapshot,
    { query, filter, last }: { query: estypes.QueryDslQueryContainer; filter: RecordFilter; last: number },
  ): Promise<RecordView[]> {
    const newest: RecordView[] = []
    if (last === 0) return newest
    for await (const view of this.#wanted(snapshot.hits({ query, order: 'desc', wanted: last }), filter)) {
      newest.push(view)
      if (newest.length === last) break
    }
    return newest.reverse()
  }

  /** Yields the records that match the filter. The query may match more (see `queryOf`). */
  async *#wanted(
    hits: AsyncIterable<Hit>,
    filter: RecordFilter,
  ): AsyncGenerator<RecordView, void, undefined> {
    for await (const { view } of hits) {
      if (view === null) this.#skipped++
      else if (matchesFilter(filter, view)) yield view
    }
  }

  #snapshot(signal: AbortSignal): Promise<Snapshot> {
    return Snapshot.open(this.#client, this.#options, signal)
  }

  async #query(filter: RecordFilter, signal: AbortSignal): Promise<estypes.QueryDslQueryContainer> {
    const { criteria } = filter
    const types = await fieldTypes(this.#client, this.#options, { criteria, signal })
    return queryOf(filter, types)
  }

  /** Converts errors to SourceErrors. Ends without an error if the signal is aborted. */
  async *#explained(
    signal: AbortSignal,
    views: AsyncIterable<RecordView>,
  ): AsyncGenerator<RecordView, void, undefined> {
    try {
      for await (const view of views) {
        if (signal.aborted) return
        yield view
      }
    } catch (error) {
      if (!signal.aborted) throw sourceError(error, this.#options)
    }
  }
}
