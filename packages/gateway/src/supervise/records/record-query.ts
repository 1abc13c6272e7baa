/** Request for records of the traffic log. Absent values match everything, as in `gw logs search`. */
export interface RecordQuery {
  readonly status?: string
  readonly route?: string
  readonly method?: string
  readonly path?: string
  readonly consumer?: string
  readonly id?: string
  readonly trace?: string
  /** Minimum duration in milliseconds. */
  readonly minMs?: number
  /** Time from which requests ended, in milliseconds since the epoch, or null for no limit. */
  readonly sinceMs: number | null
  /** Maximum number of records. */
  readonly limit: number
}

/** Part of the log that a search looked at. */
export interface SearchedLog {
  readonly kind: 'file' | 'elasticsearch'
  /** Folder or data stream. */
  readonly where: string
  /** False if older records were not searched. */
  readonly isComplete: boolean
}

/** A record of the traffic log. */
export type LoggedRecord = Readonly<Record<string, unknown>>

/** Result of a search: records, the newest first, or the reason why there are none. */
export type RecordsAnswer =
  | { readonly ok: true; readonly searched: SearchedLog; readonly records: readonly LoggedRecord[] }
  | { readonly ok: false; readonly fault: 'invalid' | 'busy' | 'unreadable'; readonly problem: string }
