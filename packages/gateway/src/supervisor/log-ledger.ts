import { EMPTY_LOG, type LogIdentity } from '@sluice/core'
import { sumOfLogs, withoutInherited } from '../telemetry/log-identities.js'

/** The log identity of the whole gateway: that of the living workers and of all that have ended. */
export class LogLedger {
  #departed = EMPTY_LOG

  /** What an ended worker still held is lost, unless it lies in a spool: then a living worker counts it again. */
  depart(log: LogIdentity): void {
    const left = withoutInherited(log)
    const lost = left.onDisk + left.inMemory
    const loss = lost === 0 ? EMPTY_LOG : { ...EMPTY_LOG, dropped: lost, droppedBy: { worker: lost } }
    this.#departed = sumOfLogs([this.#departed, { ...left, onDisk: 0, inMemory: 0 }, loss])
  }

  total(live: Iterable<LogIdentity>): LogIdentity {
    return sumOfLogs([this.#departed, ...live])
  }
}
