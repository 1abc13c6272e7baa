import type { Exchange } from './exchange.js'

/**
 * Reasons for lost records and their descriptions. The keys are the `reason` label of `gw_log_dropped_total`
 * and the members of `droppedBy`.
 */
export const LOSS_REASONS = {
  queue_full: 'The log thread fell behind, and its memory queue reached the limit of 8 MB.',
  too_large: 'A single record was larger than 1 MB, or with `sink: file` larger than 8 MB or a segment.',
  not_encodable: 'The exchange could not be encoded as a record. This is a bug in the gateway.',
  disk_full:
    'The disk or its quota is full. With `sink: file`, records are lost at once, otherwise after 16 MB are waiting in memory.',
  write_error: 'Writing failed for a reason other than a full disk.',
  spool_full: 'The spool reached `spool.maxBytes`, and its oldest records were deleted.',
  corrupt: 'The records on disk are damaged.',
  process_lost:
    'The process ended before the records were on disk, or while requests were under way. The next owner of its spool counts them.',
  writer_lost: 'The log thread ended before it had written the records.',
  close_deadline: 'The records were still pending when the shutdown deadline expired.',
  closed: 'The records arrived after the log was closed.',
  worker: 'A worker without a spool (`sink: file`) ended before it had written the records.',
} as const

/** Reason for lost records. */
export type LossReason = keyof typeof LOSS_REASONS

/**
 * Location of every record of the traffic log, as counts. This always holds: `received = indexed + dead +
 * dropped + onDisk + inMemory`. A record sent to several targets counts once per target.
 */
export interface LogIdentity extends LogCounts {
  /** Counts per target. Present only if the log has several targets. */
  readonly targets?: Readonly<Record<string, LogCounts>>
}

/** Record counts of one target. */
export interface LogCounts {
  /** Records handed over by the request path. */
  readonly received: number
  /** Delivered records: written to a file, or acknowledged by another target. */
  readonly indexed: number
  /** Records that the target rejected permanently. They are in the dead-letter file. */
  readonly dead: number
  /** Dead letters removed because their files reached the size limit. Not part of the sum. */
  readonly deadRemoved: number
  /** Records dropped because a limit was reached. `droppedBy` has the counts per reason. */
  readonly dropped: number
  readonly droppedBy: Readonly<Record<string, number>>
  /** Records in the spool that are not delivered yet. */
  readonly onDisk: number
  readonly inMemory: number
  /** Age of the oldest spooled record in milliseconds, accurate to about 100 ms. 0 if none is waiting. */
  readonly lagMs: number
  /** Absent for logs without a spool and in numbers shown to users. */
  readonly spools?: SpoolHandovers
}

/** Spool takeovers, used to count each record once when its spool changes owner. */
export interface SpoolHandovers {
  /** Records on disk and in memory, by owner. The next owner of the spool counts them again. */
  readonly left: Readonly<Record<string, number>>
  readonly takeovers: readonly Takeover[]
}

/** Takeover of everything that an owner has left in its spool. */
export interface Takeover {
  /** The previous owner, and the owners whose records it had taken over itself. */
  readonly from: readonly string[]
  /** Number of records that the new owner counts as received: those on disk and those lost. */
  readonly records: number
}

/** Counts of a log without records. */
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

/** Returns the sum of several counts. */
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

/**
 * Maximum number of remembered takeovers. Older ones are settled and no longer needed to avoid double
 * counting.
 */
const MAX_TAKEOVERS = 1000
const NO_SPOOLS: SpoolHandovers = { left: {}, takeovers: [] }

function both(a: SpoolHandovers = NO_SPOOLS, b: SpoolHandovers = NO_SPOOLS): SpoolHandovers {
  return { left: { ...a.left, ...b.left }, takeovers: [...a.takeovers, ...b.takeovers].slice(-MAX_TAKEOVERS) }
}

/**
 * Removes what a takeover has replaced from counts: the records in it are in the counts of both owners.
 * @param all Takeovers of the whole log. Another target may have received a spool.
 */
export function deduplicateCounts(log: LogCounts, all = log.spools?.takeovers ?? []): LogCounts {
  if (log.spools === undefined || all.length === 0) return log
  const own = new Set(log.spools.takeovers)
  const left: Record<string, number> = { ...log.spools.left }
  const takeovers: Takeover[] = []
  let { received, indexed, onDisk, inMemory } = log
  // An owner's own takeovers come before the takeover of that owner, which includes them.
  for (const takeover of [...all].sort((a, b) => a.from.length - b.from.length)) {
    const from = takeover.from.filter((owner) => left[owner] === undefined)
    let had = 0
    for (const owner of takeover.from) {
      had += left[owner] ?? 0
      delete left[owner]
    }
    const again = own.has(takeover) ? Math.min(had, takeover.records) : 0
    received -= again
    // Missing records were delivered by an owner that ended before it could report.
    indexed += had - again
    const fromDisk = Math.min(had, onDisk)
    onDisk -= fromDisk
    inMemory -= had - fromDisk
    // The rest is for counts that are not in this sum.
    if (own.has(takeover) && from.length > 0) takeovers.push({ from, records: takeover.records - again })
  }
  return { ...log, received, indexed, onDisk, inMemory, spools: { left, takeovers } }
}

/** Receiver of traffic log records in a worker. */
export interface LogSink {
  /**
   * Resolves when accepted records are accounted for even if the process is killed, or after the sink's
   * internal timeout.
   */
  readonly opened: Promise<void>
  /**
   * Announces records of exchanges under way, which count as lost if the process is killed. A negative number
   * takes announcements back.
   */
  announce(records: number): void
  /**
   * Accepts a finished exchange, which takes back one announcement. Never blocks or throws. If the queue is full, it drops the record and counts
   * it.
   */
  record(x: Exchange): void
  identity(): LogIdentity
  /**
   * Flushes pending records for at most `deadlineMs` milliseconds, then stops the sink's thread. The thread may
   * not react, for example while it loads a client library on a busy machine. It is then abandoned after `patienceMs`
   * milliseconds, and its records are lost. Default: `deadlineMs`.
   */
  close(deadlineMs: number, patienceMs?: number): Promise<void>
}
