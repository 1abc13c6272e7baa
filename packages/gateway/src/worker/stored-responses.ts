import {
  type PurgeScope,
  type StoredResponseCounts,
  type StoredResponseFacts,
  StoredResponses,
} from '@sluice/core'
import type { SharedTable } from '../compile/shared-table.js'
import { SampleLedger } from '../telemetry/merge.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'

/** Most stored responses of a key that operators are shown, of each worker. */
const MOST_SHOWN = 50

/** What of the families of metrics here means. */
export const CACHE_HELP: Readonly<Record<string, string>> = {
  gw_cache_requests_total: 'Requests that met response-cache, by how they were served.',
  gw_cache_evictions_total: 'Responses that response-cache has dropped to make room for others.',
  gw_cache_entries: 'Responses that response-cache keeps, of all workers.',
  gw_cache_bytes: 'What they take.',
}

/** All that policies keep of responses in this worker. */
export class WorkerResponses {
  readonly #shared: SharedTable
  /** What stores that are gone have counted. */
  readonly #ledger = new SampleLedger()

  constructor(shared: SharedTable) {
    this.#shared = shared
  }

  /** Answers with how many were forgotten. */
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

  /** Nobody uses a value any more; what it has counted is kept if it is a store. */
  depart(value: unknown): void {
    if (value instanceof StoredResponses) this.#ledger.depart(samplesOf(value.counts()))
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
