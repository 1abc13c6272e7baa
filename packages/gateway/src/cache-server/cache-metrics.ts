import type { Sample } from '../telemetry/sample.js'
import { label, renderSamples } from '../telemetry/text-format.js'
import { type Counters, PERSIST_RESULTS, RESULTS } from './store/counters.js'
import type { Spaces } from './store/spaces.js'

const HELP = {
  sluice_cache_requests_total: 'Requests, by result.',
  sluice_cache_entries: 'Stored entries, including expired ones that were not accessed since.',
  sluice_cache_bytes: 'Size of the stored entries in bytes.',
  sluice_cache_evicted_total: 'Entries evicted before they expired.',
  sluice_cache_expired_total: 'Entries found expired on access.',
  sluice_cache_persist_total: 'Reads and writes of values in Valkey, by result.',
  sluice_cache_persist_up: '1 while values are persisted to Valkey, else 0.',
  sluice_cache_persist_waiting: 'Keys waiting to be written to Valkey.',
}

/** Renders the metrics of the server in the Prometheus text format. The common store has an empty name. */
export function renderCacheMetrics(spaces: Spaces, counters: Counters, isPersistent: boolean): string {
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
  if (isPersistent)
    samples.push(
      { name: 'sluice_cache_persist_up', labels: '', value: counters.sum('persist_up') },
      { name: 'sluice_cache_persist_waiting', labels: '', value: counters.sum('persist_waiting') },
      ...PERSIST_RESULTS.map((result) => ({
        name: 'sluice_cache_persist_total',
        labels: label('result', result),
        value: counters.sum(`persist_${result}`),
      })),
    )
  return renderSamples(samples, HELP)
}
