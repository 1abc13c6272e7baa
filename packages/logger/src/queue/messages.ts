import type { MessagePort } from 'node:worker_threads'
import type { Takeover } from '@sluice/core'
import type { TextMemory } from '../record/shared-texts.js'
import { newRing, type RingMemory } from './ring.js'
import { type CountChange, type CountsMemory, newCounts } from './shared-counts.js'

/** Memory shared by the request path and a log thread. It outlives the thread. */
export interface LogMemory {
  readonly ring: RingMemory
  /** Texts to which the records in the ring refer. */
  readonly texts: TextMemory
  /** Counts kept by the log thread. */
  readonly counts: CountsMemory
  /** Records that the request path has lost, as `dropped`. */
  readonly lost: CountsMemory
  /** Those of them that log threads have noted. */
  readonly noted: CountsMemory
}

/** Creates the memory of a log. See `newRing` for the sizes. */
export function newLogMemory(texts: TextMemory, waitingBytes: number, maxRecordBytes: number): LogMemory {
  const ring = newRing(waitingBytes, maxRecordBytes)
  return { ring, texts, counts: newCounts(), lost: newCounts(), noted: newCounts() }
}

/** `workerData` of a log thread. */
export interface ThreadData<T> {
  readonly memory: LogMemory
  /** Port for messages to the request path, which may read them synchronously. */
  readonly reports: MessagePort
  /** Interval in milliseconds at which the thread looks for records. */
  readonly lookEveryMs: number
  readonly options: T
}

/** Message to a log thread. `wake`: records have arrived while it was asleep. */
export type ToThread = { readonly kind: 'wake' } | { readonly kind: 'close'; readonly deadlineMs: number }

/** Message of a log thread. */
export interface FromThread {
  /** Owner name of the thread's part of a spool. Reported once. */
  readonly owner?: string
  /** Takeovers of abandoned spools. Their records count as received and on disk from this message on. */
  readonly takeovers?: readonly Takeover[]
  /** Problem for the operator, and the number of records lost by it. */
  readonly problem?: string
  readonly lost?: number
}

/** Lost records that are counted, but not in a gap record yet. */
export interface Gap {
  /** Number of records by reason. */
  readonly reasons: Readonly<Record<string, number>>
  /** Time of the first loss in milliseconds. */
  readonly sinceMs: number
}

/** Change that a log thread reports. */
export interface LogChange extends CountChange, FromThread {
  /** Losses that former owners of a spool have counted. */
  readonly gaps?: readonly Gap[]
}

/** Reports a change. */
export type ReportChange = (change: LogChange) => void
