import { EMPTY_LOG, type Exchange, type LogIdentity, type LogSink, sumOfCounts } from '@sluice/core'

/** One of several outputs. */
export interface Outlet {
  /** The name of its counts. */
  readonly id: string
  readonly sink: LogSink
  /** Whether it gets the record of an exchange that has ended; null: of all. Does not throw. */
  readonly wants: ((x: Exchange) => boolean) | null
}

/** A log with several targets: each gets the records that it wants, and none waits for another. */
export class FanOutSink implements LogSink {
  readonly opened: Promise<void>
  readonly #outlets: readonly Outlet[]

  constructor(outlets: readonly Outlet[]) {
    this.#outlets = outlets
    this.opened = allOf(outlets.map(({ sink }) => sink.opened))
  }

  record(x: Exchange): void {
    for (const { sink, wants } of this.#outlets) {
      if (wants === null || wants(x)) sink.record(x)
    }
  }

  identity(): LogIdentity {
    const counts = this.#outlets.map(({ id, sink }) => [id, sink.identity()] as const)
    return { ...sumOfCounts(counts.map(([, one]) => one)), targets: Object.fromEntries(counts) }
  }

  async close(deadlineMs: number): Promise<void> {
    await allOf(this.#outlets.map(({ sink }) => sink.close(deadlineMs)))
  }
}

async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.all(promises)
}

/** The sink of a gateway without a traffic log: takes nothing, counts nothing. */
export const noneSink: LogSink = {
  opened: Promise.resolve(),
  record(_x: Exchange): void {},
  identity: () => EMPTY_LOG,
  close: () => Promise.resolve(),
}
