import { LOSS_REASONS, type LossReason } from '@sluice/core'

const REASONS = Object.keys(LOSS_REASONS) as LossReason[]
const NAMES = ['taken', 'adopted', 'indexed', 'dead', 'deadRemoved', 'onDisk', 'inMemory'] as const
/** Numbers in one copy of the counts. */
const SIZE = NAMES.length + REASONS.length

/**
 * Counts of records that the log thread has taken from the ring or written itself. Records found in abandoned spools
 * are not in `adopted` and `onDisk`, but only leave `onDisk`, which may therefore be negative (see `Takeover`).
 *
 *     taken + adopted = indexed + dead + dropped + onDisk + inMemory
 */
export interface ThreadCounts {
  /** Records taken from the ring. */
  readonly taken: number
  /** Records that the log thread has written itself. */
  readonly adopted: number
  readonly indexed: number
  readonly dead: number
  /** Dead letters that were deleted. Not part of the sum. */
  readonly deadRemoved: number
  /** Records in the spool, on disk and in memory only. */
  readonly onDisk: number
  readonly inMemory: number
}

/** A change of the counts. `dropped` is the number of records lost because of `reason`. */
export type CountChange = Partial<ThreadCounts> & {
  readonly dropped?: number
  readonly reason?: LossReason | ''
}

/** Memory of the counts, shared by the request path and the log thread. */
export interface CountsMemory {
  /** Number of changes so far. The copy `version & 1` is valid. */
  readonly version: Int32Array<SharedArrayBuffer>
  /** Two copies of the counts: while one is changed, the other can be read. */
  readonly copies: Float64Array<SharedArrayBuffer>
}

/** Creates counts of zero. */
export function newCounts(): CountsMemory {
  return {
    version: new Int32Array(new SharedArrayBuffer(4)),
    copies: new Float64Array(new SharedArrayBuffer(2 * SIZE * 8)),
  }
}

/** Changes the counts. Only one thread at a time may do that. */
export class CountsWriter {
  readonly #memory: CountsMemory

  constructor(memory: CountsMemory) {
    this.#memory = memory
  }

  /** Applies a balanced change, of which readers see all or nothing. */
  add(change: CountChange): void {
    const { version, copies } = this.#memory
    const now = version[0]!
    const from = (now & 1) * SIZE
    const to = SIZE - from
    copies.copyWithin(to, from, from + SIZE)
    for (let i = 0; i < NAMES.length; i++) copies[to + i]! += change[NAMES[i]!] ?? 0
    const { dropped = 0, reason = '' } = change
    if (reason !== '') copies[to + NAMES.length + REASONS.indexOf(reason)]! += dropped
    Atomics.store(version, 0, now + 1)
  }
}

/** Counts at one moment, with the lost records by reason. */
export interface Counts extends ThreadCounts {
  readonly droppedBy: ReadonlyMap<LossReason, number>
}

/** Returns the current counts. */
export function readCounts({ version, copies }: CountsMemory): Counts {
  for (;;) {
    const seen = Atomics.load(version, 0)
    const copy = copies.slice((seen & 1) * SIZE, (seen & 1) * SIZE + SIZE)
    // The copy may have been changed since, if there were two changes.
    if (Atomics.load(version, 0) !== seen) continue
    const counts = Object.fromEntries(NAMES.map((name, i) => [name, copy[i]!])) as unknown as ThreadCounts
    const lost = REASONS.map((reason, i) => [reason, copy[NAMES.length + i]!] as const)
    return { ...counts, droppedBy: new Map(lost.filter(([, records]) => records > 0)) }
  }
}

/** Returns the losses that are not in `noted` yet, and adds them there. */
export function takeLosses(lost: CountsMemory, noted: CountsMemory): CountChange[] {
  const before = readCounts(noted).droppedBy
  const changes: CountChange[] = []
  for (const [reason, records] of readCounts(lost).droppedBy) {
    const dropped = records - (before.get(reason) ?? 0)
    if (dropped > 0) changes.push({ dropped, reason })
  }
  for (const change of changes) new CountsWriter(noted).add(change)
  return changes
}
