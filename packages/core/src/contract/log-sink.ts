import type { Exchange } from './exchange.js'

/**
 * Where every record of the traffic log is, counted in records:
 * `received = indexed + dead + dropped + onDisk + inMemory`, always. A record that goes to several targets counts for
 * each of them.
 */
export interface LogIdentity extends LogCounts {
  /** The same for each target; there where the log has several. */
  readonly targets?: Readonly<Record<string, LogCounts>>
}

/** Where the records of one target are. */
export interface LogCounts {
  /** Handed over by the request path. */
  readonly received: number
  /** Delivered: written for the file sink, acknowledged for Elasticsearch. */
  readonly indexed: number
  /** Refused for good by the target, kept in the dead-letter file. */
  readonly dead: number
  /** Dead letters that were removed again, because their files had reached their bound; not part of the sum. */
  readonly deadRemoved: number
  /** Lost on purpose, because a bound was reached; by reason in `droppedBy`. */
  readonly dropped: number
  readonly droppedBy: Readonly<Record<string, number>>
  /** Spooled, not delivered yet. */
  readonly onDisk: number
  readonly inMemory: number
  /** Age of the oldest record in the spool, ms, to some 100 ms; 0: none waits. */
  readonly lagMs: number
  /** Absent for a log without a spool, and where the numbers are shown to people. */
  readonly spools?: SpoolHandovers
}

/** What the counts of owners of a spool have in common, so that a record that changes its owner is counted once. */
export interface SpoolHandovers {
  /** By owner: what it has on disk and in memory, which whoever takes its spool over counts again. */
  readonly left: Readonly<Record<string, number>>
  readonly takeovers: readonly Takeover[]
}

/** The directory of an owner that is gone was taken over by another. */
export interface Takeover {
  /** Who had made the directory. */
  readonly made: string
  /** Who had it last. */
  readonly from: string
  /** Who has it now. */
  readonly by: string
  /** As many as the new owner counts as received: those on disk, and those that were lost. */
  readonly records: number
}

/** No records at all. */
export const EMPTY_LOG: LogCounts = {
  received: 0,
  indexed: 0,
  dead: 0,
  deadRemoved: 0,
  dropped: 0,
  droppedBy: {},
  onDisk: 0,
  inMemory: 0,
  lagMs: 0,
}

/** The sum of counts. */
export function sumOfCounts(all: Iterable<LogCounts>): LogCounts {
  let total = EMPTY_LOG
  for (const counts of all) total = plus(total, counts)
  return total
}

function plus(a: LogCounts, b: LogCounts): LogCounts {
  const droppedBy: Record<string, number> = { ...a.droppedBy }
  for (const [reason, count] of Object.entries(b.droppedBy))
    droppedBy[reason] = (droppedBy[reason] ?? 0) + count
  return {
    received: a.received + b.received,
    indexed: a.indexed + b.indexed,
    dead: a.dead + b.dead,
    deadRemoved: a.deadRemoved + b.deadRemoved,
    dropped: a.dropped + b.dropped,
    droppedBy,
    onDisk: a.onDisk + b.onDisk,
    inMemory: a.inMemory + b.inMemory,
    lagMs: Math.max(a.lagMs, b.lagMs),
    ...(a.spools === undefined && b.spools === undefined ? {} : { spools: both(a.spools, b.spools) }),
  }
}

/** Takeovers that are remembered; what has been taken over so long ago has no other owner that could end unheard. */
const MAX_TAKEOVERS = 1000
const NO_SPOOLS: SpoolHandovers = { left: {}, takeovers: [] }

function both(a: SpoolHandovers = NO_SPOOLS, b: SpoolHandovers = NO_SPOOLS): SpoolHandovers {
  return {
    left: { ...a.left, ...b.left },
    takeovers: [...a.takeovers, ...b.takeovers].slice(-MAX_TAKEOVERS),
  }
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
