import type { Manifest, MemberState } from '@sluice/control-client'
import type { LogEntry, NumberedEntry } from './log-entry.js'

/** Time in milliseconds after which a member that was not seen is forgotten. */
export const MEMBER_MEMORY_MS = 7 * 24 * 60 * 60 * 1000

/** A member's answer to `prepare`. */
export interface MemberVote {
  readonly deploy: number
  readonly vote: 'prepared' | 'unchanged' | 'refused'
  readonly reasons: readonly string[]
}

/** State of a member as the controller that it is connected to reports it. */
export interface MemberReport {
  readonly member: string
  readonly group: string
  readonly name: string
  readonly version: string
  readonly adminUrl: string | null
  /** Id of the controller that the member is or was connected to. */
  readonly controller: string
  readonly isConnected: boolean
  /** Token id or certificate with which the member connected. */
  readonly owner: string
  readonly state: MemberState
  /** Clock of the member minus clock of its controller, in milliseconds. */
  readonly clockDifferenceMs: number
  readonly vote: MemberVote | null
  /** Reason why the member could not activate the committed bundle, or null. */
  readonly driftReason: string | null
}

/** Reports of all controllers. Ages are measured with one clock: that of the store. */
export interface Reports {
  /** Milliseconds since the last report of each controller. */
  readonly controllers: ReadonlyMap<string, number>
  readonly members: readonly (MemberReport & { readonly ageMs: number })[]
}

/** Part of the store that has changed. */
export type StoreChange = 'entries' | 'reports'

/**
 * State that controllers share.
 * ```
 * log        1 2 3 4 5 …      append-only, compare-and-append
 * manifests  digest ─► chunk digests
 * chunks     digest ─► bytes
 * reports    members and controllers, ephemeral
 * ```
 * Methods throw an Error if the store is unavailable; then nothing has changed, except that an append may have
 * succeeded if the connection was lost.
 */
export interface ControlStore {
  /** Id of this store. */
  readonly id: string
  /** Appends an entry if `afterSeq` is the number of the last one. Returns its number, or null on a conflict. */
  append(entry: LogEntry, afterSeq: number): Promise<number | null>
  /** Returns entries with higher numbers, in order. */
  entriesAfter(seq: number, limit: number): Promise<NumberedEntry[]>
  /** Returns the digests of chunks that are not stored. Protects the others from garbage collection for a while. */
  missingChunks(digests: readonly string[]): Promise<string[]>
  /** Stores chunks by digest. The caller has checked the digests. */
  putChunks(chunks: ReadonlyMap<string, Buffer>): Promise<void>
  getChunk(digest: string): Promise<Buffer | null>
  putManifest(digest: string, manifest: Manifest): Promise<void>
  getManifest(digest: string): Promise<Manifest | null>
  /**
   * Deletes manifests that are not in `kept`, and chunks that no remaining manifest contains, unless they are younger.
   * Also forgets members that were not seen for `MEMBER_MEMORY_MS`. Returns the number of deleted chunks.
   */
  collectGarbage(kept: ReadonlySet<string>, minAgeMs: number): Promise<number>
  /** Stores the heartbeat of a controller and reports of its members. */
  report(controller: string, members: readonly MemberReport[]): Promise<void>
  reports(): Promise<Reports>
  /** Deletes the report of a member. */
  forgetMember(group: string, member: string): Promise<void>
  /** Calls the listener after changes by any controller, and possibly more often. Returns a function that stops it. */
  watch(listener: (change: StoreChange) => void): () => void
  close(): Promise<void>
}
