import type { Sample } from '../telemetry/sample.js'
import { label, renderSamples } from '../telemetry/text-format.js'
import { type Counters, RESULTS } from './counters.js'
import type { Spaces } from './spaces.js'

const HELP = {
  sluice_cache_requests_total: 'Requests, by what they came to.',
  sluice_cache_entries: 'Entries that are stored, those that have expired unnoticed among them.',
  sluice_cache_bytes: 'Bytes of the entries that are stored.',
  sluice_cache_evicted_total: 'Entries that made room for others before they expired.',
  sluice_cache_expired_total: 'Entries found expired when they were asked for.',
}

/** The numbers of the whole server in the Prometheus text format; the store without a name is the common one. */
export function renderCacheMetrics(spaces: Spaces, counters: Counters): string {
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
  return renderSamples(samples, HELP)
}
