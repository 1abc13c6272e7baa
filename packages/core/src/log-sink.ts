import type { Exchange } from './exchange.js'

/**
 * Where every record of the traffic log is, counted in records:
 * `received = indexed + dead + dropped + onDisk + inMemory`, always.
 */
export interface LogIdentity {
  /** Handed over by the request path. */
  readonly received: number
  /** Delivered: written for the file sink, acknowledged for Elasticsearch. */
  readonly indexed: number
  /** Refused for good by the target, kept in the dead-letter file. */
  readonly dead: number
  /** Lost on purpose, because a bound was reached; by reason in `droppedBy`. */
  readonly dropped: number
  readonly droppedBy: Readonly<Record<string, number>>
  /** Spooled, not delivered yet. */
  readonly onDisk: number
  readonly inMemory: number
  /** Of the two above, what the next owner of a spool counts again when this one is gone. */
  readonly inherited: number
}

/** No records at all. */
export const EMPTY_LOG: LogIdentity = {
  received: 0,
  indexed: 0,
  dead: 0,
  dropped: 0,
  droppedBy: {},
  onDisk: 0,
  inMemory: 0,
  inherited: 0,
}

/** The receiving end of the traffic log in a worker. */
export interface LogSink {
  /** Resolves when what is handed over is accounted for even if the process is killed, or after a bound of its own. */
  readonly opened: Promise<void>
  /** Takes one finished exchange. Never waits, never throws; when full it drops and counts. */
  record(x: Exchange): void
  identity(): LogIdentity
  /** Writes out what it holds, for at most `deadlineMs`, then lets go of its thread. */
  close(deadlineMs: number): Promise<void>
}
