import type { LogCounts, LogIdentity } from '@sluice/core'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'

/** Help texts of the metrics below. */
export const LOG_HELP: Readonly<Record<string, string>> = {
  gw_log_received_total:
    'Records of the traffic log by target, where `log.sink` is target main: the sum of delivered, dead, dropped and waiting records.',
  gw_log_indexed_total: 'Records delivered: written to a file, or acknowledged by another target.',
  gw_log_dead_total: 'Records that the target refused permanently, kept as dead letters.',
  gw_log_dead_removed_total:
    'Dead letters deleted, oldest first, because they exceeded 256 MB. Not part of the sum.',
  gw_log_dropped_total: 'Records lost because a limit was reached, by target and reason.',
  gw_log_on_disk: 'Records in the spool, not delivered yet.',
  gw_log_in_memory: 'Records in memory, not on disk yet.',
  gw_log_lag_seconds: 'Age of the oldest record in the spool.',
}

/** Reported as 0 until records are lost, so that sums over all metrics work from the start. */
const FIRST_REASON = 'queue_full'

/** Name of the only target of a log. */
const MAIN = 'main'

/** Returns the traffic log counts as metrics per target. Series keep their names when a target is added. */
export function logSamples({ targets, ...counts }: LogIdentity): Sample[] {
  const entries = Object.entries(targets ?? { [MAIN]: counts })
  return entries.flatMap(([id, target]) => countSamples(target, label('target', id)))
}

function countSamples(log: LogCounts, target: string): Sample[] {
  const one = (name: string, value: number, ...more: readonly string[]): Sample => ({
    name,
    labels: [target, ...more].join(','),
    value,
  })
  return [
    one('gw_log_received_total', log.received),
    one('gw_log_indexed_total', log.indexed),
    one('gw_log_dead_total', log.dead),
    one('gw_log_dead_removed_total', log.deadRemoved),
    ...Object.entries({ [FIRST_REASON]: 0, ...log.droppedBy }).map(([reason, count]) =>
      one('gw_log_dropped_total', count, label('reason', reason)),
    ),
    one('gw_log_on_disk', log.onDisk),
    one('gw_log_in_memory', log.inMemory),
    one('gw_log_lag_seconds', log.lagMs / 1000),
  ]
}
