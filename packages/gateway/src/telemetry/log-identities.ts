import { EMPTY_LOG, type LogIdentity } from '@sluice/core'

/** The sum of several logs' counts. */
export function sumOfLogs(logs: Iterable<LogIdentity>): LogIdentity {
  let total = EMPTY_LOG
  for (const log of logs) total = plus(total, log)
  return total
}

/** What is left of a log that has ended: what lies in its spool is counted by whoever takes that over. */
export function withoutInherited(log: LogIdentity): LogIdentity {
  const { received, onDisk, inMemory, inherited } = log
  // Records in memory alone are inherited only together with all that is on disk.
  const inMemoryLeft = inMemory - Math.max(0, inherited - onDisk)
  const onDiskLeft = onDisk - Math.min(onDisk, inherited)
  return { ...log, received: received - inherited, onDisk: onDiskLeft, inMemory: inMemoryLeft, inherited: 0 }
}

function plus(a: LogIdentity, b: LogIdentity): LogIdentity {
  const droppedBy: Record<string, number> = { ...a.droppedBy }
  for (const [reason, count] of Object.entries(b.droppedBy))
    droppedBy[reason] = (droppedBy[reason] ?? 0) + count
  return {
    received: a.received + b.received,
    indexed: a.indexed + b.indexed,
    dead: a.dead + b.dead,
    dropped: a.dropped + b.dropped,
    droppedBy,
    onDisk: a.onDisk + b.onDisk,
    inMemory: a.inMemory + b.inMemory,
    inherited: a.inherited + b.inherited,
  }
}
