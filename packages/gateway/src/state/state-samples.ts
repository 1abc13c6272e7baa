import type { SharedTable } from '../compile/shared-table.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import type { SharedMemory } from './shared-memory.js'
import { ValkeyStore } from './valkey/valkey-store.js'

/** Help texts of the families below. */
export const STATE_HELP: Readonly<Record<string, string>> = {
  gw_memory_store_entries: 'Values, counters and limits that the supervisor holds for all workers.',
  gw_memory_store_bytes: 'What they take.',
  gw_memory_store_evictions_total: 'Those that had to go before they had expired, because there was no room.',
  gw_state_connections:
    'How many workers have a connection to the server of `state` that answers, or to each primary of its cluster.',
  gw_state_slow:
    'Workers that consider the `state` server, or a node of its cluster, slower than `state.slowAfter`. Limits then follow `onStoreDown`.',
  gw_state_calls_total:
    'Calls of the server of `state`, or of the nodes of its cluster, by result: answered, failed (an error of the server or the connection, or another node has the key), late, refused (not sent, because the server is away or too many wait).',
  gw_state_call_seconds_total: 'Time that the answered calls took together.',
}

/** The numbers of the store that all workers share. */
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

/** What a worker counts of the servers of `state`. */
export function serverSamples(shared: SharedTable): Sample[] {
  return serversOf(shared).flatMap(valkeySamples)
}

/** Why a worker does not use a server of `state`; null: it does, or has none. */
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
