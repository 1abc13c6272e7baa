import { EMPTY_LOG, type LogCounts, type LogIdentity, type LossReason } from '@sluice/core'
import { mapCounts, sumOfLogs } from '../../telemetry/log-identities.js'
import { deduplicate, withoutTakeovers } from '../../telemetry/spool-takeovers.js'

/** Traffic log counts of the whole gateway: living workers and all that have exited. */
export class LogLedger {
  #retired: LogIdentity = EMPTY_LOG

  /**
   * Adds the counts of an exited worker. Records it still held count as lost, except those in a spool, which
   * a living worker will take over.
   */
  retire(log: LogIdentity): void {
    this.#retired = deduplicate(sumOfLogs([this.#retired, mapCounts(log, withRestLost)]))
  }

  /** Returns the counts of all exited and living workers. */
  total(live: Iterable<LogIdentity>): LogIdentity {
    return withoutTakeovers(deduplicate(sumOfLogs([this.#retired, ...live])))
  }
}

function withRestLost(log: LogCounts): LogCounts {
  const left = Object.values(log.spools?.left ?? {}).reduce((sum, records) => sum + records, 0)
  const ended = { ...log, onDisk: left, inMemory: 0, lagMs: 0 }
  const lost = log.onDisk + log.inMemory - left
  if (lost === 0) return ended
  const reason: LossReason = 'worker'
  const droppedBy = { ...log.droppedBy, [reason]: (log.droppedBy[reason] ?? 0) + lost }
  return { ...ended, dropped: log.dropped + lost, droppedBy }
}
