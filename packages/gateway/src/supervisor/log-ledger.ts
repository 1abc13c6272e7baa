import { EMPTY_LOG, type LogIdentity } from '@sluice/core'

/** The log identity of the whole gateway: that of the living workers and of all that have ended. */
export class LogLedger {
  #departed = EMPTY_LOG

  /** What an ended worker still held is lost, unless it lies in a spool: then a living worker counts it again. */
  depart(log: LogIdentity): void {
    const lost = log.onDisk + log.inMemory - log.inherited
    const settled = { ...log, received: log.received - log.inherited, onDisk: 0, inMemory: 0, inherited: 0 }
    const loss = lost === 0 ? EMPTY_LOG : { ...EMPTY_LOG, dropped: lost, droppedBy: { worker: lost } }
    this.#departed = sum(sum(this.#departed, settled), loss)
  }

  total(live: Iterable<LogIdentity>): LogIdentity {
    let total = this.#departed
    for (const log of live) total = sum(total, log)
    return total
  }
}

function sum(a: LogIdentity, b: LogIdentity): LogIdentity {
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
