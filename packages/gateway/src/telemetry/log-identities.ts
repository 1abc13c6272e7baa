import { EMPTY_LOG, type LogCounts, type LogIdentity, sumOfCounts } from '@sluice/core'

/** Name of the counts of a log without targets. */
const MAIN = 'main'

/** Adds up the counts of several logs, in total and per target. */
export function sumOfLogs(logs: Iterable<LogIdentity>): LogIdentity {
  let total: LogIdentity = EMPTY_LOG
  for (const log of logs) total = plus(total, log)
  return total
}

/** Applies a change to the counts of the whole log and of each target. */
export function mapCounts(
  { targets, ...counts }: LogIdentity,
  change: (counts: LogCounts) => LogCounts,
): LogIdentity {
  if (targets === undefined) return change(counts)
  const changed = Object.entries(targets).map(([id, target]) => [id, change(target)] as const)
  return { ...change(counts), targets: Object.fromEntries(changed) }
}

function plus(a: LogIdentity, b: LogIdentity): LogIdentity {
  const counts = sumOfCounts([a, b])
  if (a.targets === undefined && b.targets === undefined) return counts
  const targets = new Map(Object.entries(targetsOf(a)))
  for (const [id, target] of Object.entries(targetsOf(b)))
    targets.set(id, sumOfCounts([targets.get(id) ?? EMPTY_LOG, target]))
  return { ...counts, targets: Object.fromEntries(targets) }
}

/** Returns the counts per target. A log with one output may be followed by one with several. */
function targetsOf({ targets, ...counts }: LogIdentity): Readonly<Record<string, LogCounts>> {
  return targets ?? (counts.received === 0 ? {} : { [MAIN]: counts })
}
