import {
  type PurgeScope,
  type StoredResponseCounts,
  type StoredResponseFacts,
  StoredResponses,
} from '@sluice/core'
import type { SharedTable } from '../lib/shared-table.js'
import { SampleLedger } from '../telemetry/merge.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'

/** Maximum number of stored responses shown per key and worker. */
const MOST_SHOWN = 50

/** Help texts of the cache metrics. */
export const CACHE_HELP: Readonly<Record<string, string>> = {
  gw_cache_requests_total: 'Requests handled by response-cache, by result.',
  gw_cache_evictions_total: 'Responses that response-cache evicted to make room for others.',
  gw_cache_entries: 'Responses stored by response-cache in all workers.',
  gw_cache_bytes: 'Memory used by stored responses of all workers.',
}

/** The responses stored by policies in this worker. */
export class WorkerResponses {
  readonly #shared: SharedTable
  /** Counters of stores that no longer exist. */
  readonly #ledger = new SampleLedger()

  constructor(shared: SharedTable) {
    this.#shared = shared
  }

  /** Deletes the selected responses and returns their number. */
  purge(scope: PurgeScope): number {
    return this.#stores().reduce((sum, store) => sum + store.purge(scope), 0)
  }

  find(key: string): readonly StoredResponseFacts[] {
    return this.#stores()
      .flatMap((store) => store.find(key, MOST_SHOWN))
      .slice(0, MOST_SHOWN)
  }

  takeChanged(): readonly string[] {
    return this.#stores().flatMap((store) => store.takeChanged())
  }

  invalidate(uris: readonly string[]): void {
    const nowMs = Date.now()
    for (const store of this.#stores()) for (const uri of uris) store.invalidate(uri, nowMs)
  }

  samples(): Sample[] {
    return this.#ledger.merged(this.#stores().map((store) => samplesOf(store.counts())))
  }

  /** Keeps the counters of a store that is being closed. */
  retire(value: unknown): void {
    if (value instanceof StoredResponses) this.#ledger.retire(samplesOf(value.counts()))
  }

  #stores(): StoredResponses[] {
    return [...this.#shared.values()].filter((value) => value instanceof StoredResponses)
  }
}

function samplesOf({ requests, evictions, entries, bytes }: StoredResponseCounts): Sample[] {
  const served = [...requests].map(([result, value]) => ({
    ...{ name: 'gw_cache_requests_total', labels: label('result', result), value },
  }))
  return [
    ...served,
    { name: 'gw_cache_evictions_total', labels: '', value: evictions },
    { name: 'gw_cache_entries', labels: '', value: entries },
    { name: 'gw_cache_bytes', labels: '', value: bytes },
  ]
}
