import type { estypes } from '@elastic/elasticsearch'
import type { RecordView, TrafficRecord } from '../record-view.js'

/** A document of the data stream. */
export interface Hit {
  readonly documentId: string
  /** The record, or null if the document is not a record. */
  readonly view: RecordView | null
  readonly timeMs: number
}

/**
 * Characters that JSON.stringify formats differently from a record: short escapes and characters other than
 * printable ASCII.
 */
const UNLIKE_RECORD = /\\["\\bfnrt]|[^ -~]/g
const CODES: Readonly<Record<string, string>> = {
  '\\b': '\\u0008',
  '\\f': '\\u000c',
  '\\n': '\\u000a',
  '\\r': '\\u000d',
  '\\t': '\\u0009',
}

/** Converts a search hit. The search must sort by time first, as text or in milliseconds. */
export function hitOf({ _id, _source, sort }: estypes.SearchHit): Hit {
  const timeMs = new Date(sort?.[0] as string | number).getTime()
  const time = Number.isNaN(timeMs) ? 0 : timeMs
  const documentId = _id ?? ''
  if (typeof _source !== 'object' || _source === null) return { documentId, view: null, timeMs: time }
  const record = _source as TrafficRecord
  return { documentId, view: { record, line: recordText(record), timeMs: time }, timeMs: time }
}

/** Returns a record as the line of JSON in printable ASCII that a log file would contain. */
export function recordText(record: TrafficRecord): string {
  return JSON.stringify(record).replace(UNLIKE_RECORD, (text) => {
    if (text.length === 2) return CODES[text] ?? text
    return `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
