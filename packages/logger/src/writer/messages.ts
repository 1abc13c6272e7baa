import type { MessagePort } from 'node:worker_threads'
import type { LossReason, Takeover } from '@sluice/core'

/** Whole lines on their way to the writer's thread; the buffer is transferred, not copied. */
export interface Batch {
  readonly kind: 'batch'
  readonly buffer: ArrayBuffer
  /** Used bytes of the buffer. */
  readonly length: number
  readonly records: number
}

/** Records that were lost before they could be handed over. */
export interface Lost {
  readonly kind: 'lost'
  readonly records: number
  readonly reason: LossReason
}

/** What the writer's thread receives. */
export type ToWriter = Batch | Lost | { readonly kind: 'close'; readonly deadlineMs: number }

/**
 * What became of records since the last receipt. A thread answers every batch with one, in order, and sends others when
 * what it keeps moves on. What comes in goes out, in every single receipt:
 *
 *     records + adopted = indexed + dead + dropped + onDisk + inMemory
 */
export interface Receipt {
  readonly kind: 'receipt'
  /** Bytes and records of the batch that is answered; 0 when none is. */
  readonly length: number
  readonly records: number
  /** Found in a spool that somebody left behind. */
  readonly adopted: number
  /** Whose they were. */
  readonly takeovers: readonly Takeover[]
  /** The name under which the thread owns its part of a spool; reported once. */
  readonly owner: string
  readonly indexed: number
  readonly dead: number
  /** Dead letters that were removed again: they are nowhere any more, and are counted beside all others. */
  readonly deadRemoved: number
  /** Lost for `reason`. */
  readonly dropped: number
  readonly reason: LossReason | ''
  /** Change of what the thread keeps on disk and in memory; negative when it moves on from there. */
  readonly onDisk: number
  readonly inMemory: number
  /** Something an operator should know, or empty. */
  readonly problem: string
  /** The buffer of the batch that is answered, to be filled again; null when none is. Transferred, not copied. */
  readonly buffer: ArrayBuffer | null
}

/** A receipt in which nothing has happened. */
const NO_CHANGE: Receipt = {
  kind: 'receipt',
  length: 0,
  records: 0,
  adopted: 0,
  takeovers: [],
  owner: '',
  indexed: 0,
  dead: 0,
  deadRemoved: 0,
  dropped: 0,
  reason: '',
  onDisk: 0,
  inMemory: 0,
  problem: '',
  buffer: null,
}

/** Answers a batch whose bytes nobody needs any more, or reports a change. */
export function sendReceipt(port: MessagePort, change: Partial<Receipt>): void {
  const buffer = change.buffer ?? null
  port.postMessage({ ...NO_CHANGE, ...change } satisfies Receipt, buffer === null ? [] : [buffer])
}
