/** Record members that outputs use in keys, labels and message heads. They are not checked. */
export interface RecordParts {
  readonly '@timestamp'?: unknown
  readonly id?: unknown
  readonly route?: unknown
  readonly api?: unknown
  readonly group?: unknown
  readonly env?: unknown
  readonly result?: unknown
  readonly res?: { readonly status?: unknown }
  readonly gw?: { readonly pod?: unknown; readonly worker?: unknown }
  readonly client?: { readonly ip?: unknown }
}

/** Parses a record. Invalid JSON is a bug in the gateway, but must not block other records. */
export function readRecord(json: string): RecordParts {
  try {
    const record: unknown = JSON.parse(json)
    return typeof record === 'object' && record !== null ? record : {}
  } catch {
    return {}
  }
}
