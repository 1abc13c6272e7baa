import type { MessagePort } from 'node:worker_threads'
import type { LossReason, Takeover } from '@sluice/core'

/** Complete lines for the writer thread. The buffer is transferred, not copied. */
export interface Batch {
  readonly kind: 'batch'
  readonly buffer: ArrayBuffer
  /** Number of used bytes in the buffer. */
  readonly length: number
  readonly records: number
}

/** Records that were lost before they could be sent to the thread. */
export interface Lost {
  readonly kind: 'lost'
  readonly records: number
  readonly reason: LossReason
}

/** Message to the writer thread. */
export type ToWriter = Batch | Lost | { readonly kind: 'close'; readonly deadlineMs: number }

/**
 * Changes of the record counts since the last receipt. A thread answers every batch with one receipt, in
 * order, and sends more when its stored records change. In every receipt:
 *
 *     records + adopted = indexed + dead + dropped + onDisk + inMemory
 */
export interface Receipt {
  readonly kind: 'receipt'
  /** Bytes and records of the answered batch, or 0 without a batch. */
  readonly length: number
  readonly records: number
  /** Records found in abandoned spools. */
  readonly adopted: number
  /** Takeovers of these spools. */
  readonly takeovers: readonly Takeover[]
  /** Owner name of the thread's part of a spool. Reported once. */
  readonly owner: string
  readonly indexed: number
  readonly dead: number
  /** Dead letters that were deleted. Counted separately from the other numbers. */
  readonly deadRemoved: number
  /** Records lost because of `reason`. */
  readonly dropped: number
  readonly reason: LossReason | ''
  /** Change of the number of records that the thread has on disk and in memory. */
  readonly onDisk: number
  readonly inMemory: number
  /** Problem for the operator, or empty. */
  readonly problem: string
  /** Buffer of the answered batch for reuse, or null. Transferred, not copied. */
  readonly buffer: ArrayBuffer | null
}

/** Reports changes of the record counts. */
export type ReportChange = (change: Partial<Receipt>) => void

/** A receipt without changes. */
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

/** Sends a receipt for a processed batch or another change. */
export function sendReceipt(port: MessagePort, change: Partial<Receipt>): void {
  const buffer = change.buffer ?? null
  port.postMessage({ ...NO_CHANGE, ...change } satisfies Receipt, buffer === null ? [] : [buffer])
}
