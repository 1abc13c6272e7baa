import { EMPTY_LOG, type LogCounts, type LogIdentity, type LossReason } from '@sluice/core'
import { countedOnce, withoutHandovers } from '../telemetry/handed-over.js'
import { mapped, sumOfLogs } from '../telemetry/log-identities.js'

/** The log identity of the whole gateway: that of the living workers and of all that have ended. */
export class LogLedger {
  #departed: LogIdentity = EMPTY_LOG

  /** What an ended worker still held is lost, unless it is in a spool: it waits there until a living worker takes it. */
  depart(log: LogIdentity): void {
    this.#departed = countedOnce(sumOfLogs([this.#departed, mapped(log, withRestLost)]))
  }

  total(live: Iterable<LogIdentity>): LogIdentity {
    return withoutHandovers(countedOnce(sumOfLogs([this.#departed, ...live])))
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
