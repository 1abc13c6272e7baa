import { EMPTY_LOG, type LogCounts, type LogIdentity, type LossReason } from '@sluice/core'
import { mapped, sumOfLogs, withoutInherited } from '../telemetry/log-identities.js'

/** The log identity of the whole gateway: that of the living workers and of all that have ended. */
export class LogLedger {
  #departed: LogIdentity = EMPTY_LOG

  /** What an ended worker still held is lost, unless it lies in a spool: then a living worker counts it again. */
  depart(log: LogIdentity): void {
    this.#departed = sumOfLogs([this.#departed, mapped(withoutInherited(log), withRestLost)])
  }

  total(live: Iterable<LogIdentity>): LogIdentity {
    return sumOfLogs([this.#departed, ...live])
  }
}

function withRestLost(log: LogCounts): LogCounts {
  const lost = log.onDisk + log.inMemory
  if (lost === 0) return { ...log, lagMs: 0 }
  const reason: LossReason = 'worker'
  const droppedBy = { ...log.droppedBy, [reason]: (log.droppedBy[reason] ?? 0) + lost }
  return { ...log, dropped: log.dropped + lost, droppedBy, onDisk: 0, inMemory: 0, lagMs: 0 }
}
