import { EMPTY_LOG, type Exchange, type LogIdentity, type LogSink, sumOfCounts } from '@sluice/core'
import type { RecordEncoder } from '../queue/record-encoder.js'
import type { RecordQueue } from '../queue/record-queue.js'

/** A target of a traffic log that has several. */
export interface Outlet {
  /** Key of its counts in `LogIdentity.targets`. */
  readonly id: string
  readonly sink: RecordQueue
  /**
   * Returns true if the target receives the record of a finished exchange. Null sends it all records. Must
   * not throw.
   */
  readonly wants: ((x: Exchange) => boolean) | null
}

/**
 * Traffic log with several targets. Each receives the records it wants, independently of the others. Targets that share
 * an encoder receive copies of the same record.
 */
export class FanOutSink implements LogSink {
  readonly opened: Promise<void>
  readonly #outlets: readonly Outlet[]
  readonly #encoders: readonly RecordEncoder[]

  constructor(outlets: readonly Outlet[]) {
    this.#outlets = outlets
    this.#encoders = [...new Set(outlets.map(({ sink }) => sink.encoder))]
    this.opened = allOf(outlets.map(({ sink }) => sink.opened))
  }

  announce(records: number): void {
    for (const { sink } of this.#outlets) sink.announce(records)
  }

  record(x: Exchange): void {
    for (const encoder of this.#encoders) encoder.begin()
    for (const { sink, wants } of this.#outlets) {
      if (wants === null || wants(x)) sink.add(x)
      else sink.announce(-1)
    }
  }

  identity(): LogIdentity {
    const counts = this.#outlets.map(({ id, sink }) => [id, sink.identity()] as const)
    return { ...sumOfCounts(counts.map(([, one]) => one)), targets: Object.fromEntries(counts) }
  }

  async close(deadlineMs: number, patienceMs?: number): Promise<void> {
    await allOf(this.#outlets.map(({ sink }) => sink.close(deadlineMs, patienceMs)))
  }
}

async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.all(promises)
}

/** Sink of a gateway without a traffic log. It discards all records. */
export const noneSink: LogSink = {
  opened: Promise.resolve(),
  announce(_records: number): void {},
  record(_x: Exchange): void {},
  identity: () => EMPTY_LOG,
  close: () => Promise.resolve(),
}
