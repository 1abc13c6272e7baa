import { setTimeout as delay } from 'node:timers/promises'
import { EMPTY_LOG, type Exchange, type LogIdentity, type LogSink } from '@sluice/core'
import { mapCounts, sumOfLogs } from '../telemetry/log-identities.js'
import { deduplicate } from '../telemetry/spool-takeovers.js'

/**
 * The worker's log sink, which a reload can replace. Counts of all sinks are kept, so that none goes
 * backwards.
 */
export class SwappableSink implements LogSink {
  #current: LogSink
  /** Prepared sinks, and sinks being closed. */
  readonly #others = new Set<LogSink>()
  readonly #closing = new Set<Promise<void>>()
  #closed: LogIdentity = EMPTY_LOG
  /** Records that exchanges under way will have. */
  #announced = 0

  constructor(first: LogSink) {
    this.#current = first
  }

  get opened(): Promise<void> {
    return this.#current.opened
  }

  announce(records: number): void {
    this.#announced += records
    this.#current.announce(records)
  }

  record(x: Exchange): void {
    this.#announced--
    this.#current.record(x)
  }

  /** Adds a prepared sink to the counts. It already delivers records from its spool. */
  prepare(sink: LogSink): void {
    this.#others.add(sink)
  }

  /** Sends records to the new sink from now on. The old one writes out its records (see `LogSink.close`). */
  switchTo(sink: LogSink, deadlineMs: number, patienceMs = deadlineMs): Promise<void> {
    const before = this.#current
    this.#current = sink
    sink.announce(this.#announced)
    this.#others.delete(sink)
    return this.discard(before, deadlineMs, patienceMs)
  }

  /** Closes a sink that is not in use. */
  discard(sink: LogSink, deadlineMs: number, patienceMs = deadlineMs): Promise<void> {
    this.#others.add(sink)
    const closed = this.#close(sink, deadlineMs, patienceMs)
    this.#closing.add(closed)
    return closed.finally(() => this.#closing.delete(closed))
  }

  identity(): LogIdentity {
    const others = [...this.#others].map((sink) => sink.identity()).filter(isUsed)
    return deduplicate(sumOfLogs([this.#closed, ...others, this.#current.identity()]))
  }

  /**
   * Closes the current sink and waits for those replaced a moment ago, at most until the same deadline. Records of one
   * that has not ended by then are counted by the next owner of its spool.
   */
  async close(deadlineMs: number): Promise<void> {
    const deadline = delay(deadlineMs, undefined, { ref: false })
    await Promise.all([Promise.race([Promise.all(this.#closing), deadline]), this.#current.close(deadlineMs)])
  }

  async #close(sink: LogSink, deadlineMs: number, patienceMs: number): Promise<void> {
    await sink.close(deadlineMs, patienceMs)
    this.#others.delete(sink)
    const last = mapCounts(sink.identity(), (counts) => ({ ...counts, lagMs: 0 }))
    if (isUsed(last)) this.#closed = deduplicate(sumOfLogs([this.#closed, last]))
  }
}

/** Returns true if a sink had records. The names of unused targets are not kept in the counts. */
function isUsed({ received, spools }: LogIdentity): boolean {
  return received > 0 || (spools?.takeovers.length ?? 0) > 0
}
