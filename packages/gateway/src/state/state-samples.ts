import type { MemoryTable } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'

/** Help texts of the families below. */
export const STATE_HELP: Readonly<Record<string, string>> = {
  gw_memory_store_entries: 'Values, counters and limits that the supervisor holds for all workers.',
  gw_memory_store_bytes: 'What they take.',
  gw_memory_store_evictions_total: 'Those that had to go before they had expired, because there was no room.',
}

/** The numbers of the store that all workers share. */
export function memorySamples({ entries, bytes, evictions }: MemoryTable): Sample[] {
  return [
    { name: 'gw_memory_store_entries', labels: '', value: entries },
    { name: 'gw_memory_store_bytes', labels: '', value: bytes },
    { name: 'gw_memory_store_evictions_total', labels: '', value: evictions },
  ]
}
