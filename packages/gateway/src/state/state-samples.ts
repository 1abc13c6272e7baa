import type { SharedTable } from '../lib/shared-table.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import type { SharedMemory } from './shared-memory.js'
import { ValkeyStore } from './valkey/valkey-store.js'

/** Help texts of the metrics below. */
export const STATE_HELP: Readonly<Record<string, string>> = {
  gw_memory_store_entries: 'Values, counters and limits that the supervisor holds for all workers.',
  gw_memory_store_bytes: 'Memory used by the values, counters and limits that the supervisor holds.',
  gw_memory_store_evictions_total: 'Values, counters and limits evicted before they expired.',
  gw_state_connections:
    'Workers with a working connection to the `state` server, or to every primary of its cluster.',
  gw_state_slow:
    'Workers that consider the `state` server, or a node of its cluster, slower than `state.slowAfter`. Limits then follow `onStoreDown`.',
  gw_state_calls_total:
    'Calls to the `state` server, or to the nodes of its cluster, by result: answered, failed (error of the server or connection, or the key is on another node), late, refused (not sent: server unavailable or too many waiting).',
  gw_state_call_seconds_total: 'Total time of answered calls.',
}

/** Returns the metrics of the store shared by all workers. */
export function memorySamples({
  entries,
  bytes,
  evictions,
}: Pick<SharedMemory, 'entries' | 'bytes' | 'evictions'>): Sample[] {
  return [
    { name: 'gw_memory_store_entries', labels: '', value: entries },
    { name: 'gw_memory_store_bytes', labels: '', value: bytes },
    { name: 'gw_memory_store_evictions_total', labels: '', value: evictions },
  ]
}

/** Returns a worker's metrics of its `state` servers. */
export function serverSamples(shared: SharedTable): Sample[] {
  return serversOf(shared).flatMap(valkeySamples)
}

/** Returns why a worker does not use a `state` server, or null. */
export function serverProblem(shared: SharedTable): string | null {
  for (const { problem } of serversOf(shared)) if (problem !== null) return problem
  return null
}

function serversOf(shared: SharedTable): ValkeyStore[] {
  return [...shared.values()].filter((value) => value instanceof ValkeyStore)
}

function valkeySamples({ problem, isSlow, counts }: ValkeyStore): Sample[] {
  const results = ['answered', 'failed', 'late', 'refused'] as const
  return [
    { name: 'gw_state_connections', labels: '', value: problem === null ? 1 : 0 },
    { name: 'gw_state_slow', labels: '', value: isSlow ? 1 : 0 },
    ...results.map((result) => ({
      name: 'gw_state_calls_total',
      labels: label('result', result),
      value: counts[result],
    })),
    { name: 'gw_state_call_seconds_total', labels: '', value: counts.sumMs / 1000 },
  ]
}
