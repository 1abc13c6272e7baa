import type { Exchange, LogIdentity, LogSink } from '@sluice/core'

/** The worker's log sink, which a reload can exchange; counts of sinks that were closed are kept. */
export class SwitchedSink implements LogSink {
  #current: LogSink
  readonly #closing = new Set<LogSink>()
  #closed: LogIdentity[] = []

  constructor(first: LogSink) {
    this.#current = first
  }

  record(x: Exchange): void {
    this.#current.record(x)
  }

  /** Records go to the new sink from now on; the old one writes out what it holds. */
  async switchTo(sink: LogSink, deadlineMs: number): Promise<void> {
    const before = this.#current
    this.#current = sink
    this.#closing.add(before)
    await before.close(deadlineMs)
    this.#closing.delete(before)
    this.#closed = [addIdentities([...this.#closed, before.identity()])]
  }

  identity(): LogIdentity {
    const open = [...this.#closing, this.#current].map((sink) => sink.identity())
    return addIdentities([...this.#closed, ...open])
  }

  close(deadlineMs: number): Promise<void> {
    return this.#current.close(deadlineMs)
  }
}

/** The sum of several sinks' counts. */
export function addIdentities(identities: readonly LogIdentity[]): LogIdentity {
  const sum = { received: 0, indexed: 0, dead: 0, dropped: 0, onDisk: 0, inMemory: 0, inherited: 0 }
  const droppedBy: Record<string, number> = {}
  for (const identity of identities) {
    sum.received += identity.received
    sum.indexed += identity.indexed
    sum.dead += identity.dead
    sum.dropped += identity.dropped
    sum.onDisk += identity.onDisk
    sum.inMemory += identity.inMemory
    sum.inherited += identity.inherited
    for (const [reason, count] of Object.entries(identity.droppedBy)) {
      droppedBy[reason] = (droppedBy[reason] ?? 0) + count
    }
  }
  return { ...sum, droppedBy }
}
