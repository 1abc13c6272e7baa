import { EMPTY_LOG, type Exchange, type LogIdentity, type LogSink } from '@sluice/core'
import { sumOfLogs, withoutInherited } from '../telemetry/log-identities.js'

/** The worker's log sink, which a reload can exchange; counts of sinks that were closed are kept. */
export class SwitchedSink implements LogSink {
  #current: LogSink
  readonly #closing = new Map<LogSink, Promise<void>>()
  #closed = EMPTY_LOG

  constructor(first: LogSink) {
    this.#current = first
  }

  get opened(): Promise<void> {
    return this.#current.opened
  }

  record(x: Exchange): void {
    this.#current.record(x)
  }

  /** Records go to the new sink from now on; the old one writes out what it holds. */
  async switchTo(sink: LogSink, deadlineMs: number): Promise<void> {
    const before = this.#current
    this.#current = sink
    const closed = before.close(deadlineMs)
    this.#closing.set(before, closed)
    await closed
    this.#closing.delete(before)
    this.#closed = sumOfLogs([this.#closed, withoutInherited(before.identity())])
  }

  identity(): LogIdentity {
    const open = [...this.#closing.keys(), this.#current].map((sink) => sink.identity())
    return sumOfLogs([this.#closed, ...open])
  }

  /** Also waits for sinks that were exchanged a moment ago; their deadlines are earlier than this one. */
  async close(deadlineMs: number): Promise<void> {
    await Promise.all([...this.#closing.values(), this.#current.close(deadlineMs)])
  }
}
