import type { Sample } from '../telemetry/sample.js'
import { label, renderSamples } from '../telemetry/text-format.js'
import { type Counters, RESULTS } from './counters.js'
import { PERSIST_RESULTS, type PersistCounters } from './persist/persist-calls.js'
import type { Spaces } from './spaces.js'

const HELP = {
  sluice_cache_requests_total: 'Requests, by what they came to.',
  sluice_cache_entries: 'Entries that are stored, those that have expired unnoticed among them.',
  sluice_cache_bytes: 'Bytes of the entries that are stored.',
  sluice_cache_evicted_total: 'Entries that made room for others before they expired.',
  sluice_cache_expired_total: 'Entries found expired when they were asked for.',
  sluice_cache_persist_total: 'Values on their way to Valkey and back, by what became of them.',
  sluice_cache_persist_up: 'Whether values are kept in Valkey now.',
  sluice_cache_persist_waiting: 'Keys whose values wait to be written to Valkey.',
}

/** The numbers of the whole server in the Prometheus text format; the store without a name is the common one. */
export function renderCacheMetrics(
  spaces: Spaces,
  counters: Counters,
  persist: PersistCounters | null,
): string {
  const samples: Sample[] = RESULTS.map((result) => ({
    name: 'sluice_cache_requests_total',
    labels: label('result', result),
    value: counters.sum(result),
  }))
  for (const [name, store] of spaces.stores) {
    const { entries, bytes, evicted, expired } = store.counts()
    const labels = label('store', name)
    samples.push(
      { name: 'sluice_cache_entries', labels, value: entries },
      { name: 'sluice_cache_bytes', labels, value: bytes },
      { name: 'sluice_cache_evicted_total', labels, value: evicted },
      { name: 'sluice_cache_expired_total', labels, value: expired },
    )
  }
  if (persist !== null) {
    samples.push(
      { name: 'sluice_cache_persist_up', labels: '', value: persist.isUsed },
      { name: 'sluice_cache_persist_waiting', labels: '', value: persist.waiting },
      ...PERSIST_RESULTS.map((result) => ({
        name: 'sluice_cache_persist_total',
        labels: label('result', result),
        value: persist.of(result),
      })),
    )
  }
  return renderSamples(samples, HELP)
}
