import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Records in a log target. */
export interface StoredRecords {
  /** Number of records of each `KnownLoad` request. */
  readonly copies: ReadonlyMap<number, number>
  /** Number of gap records, and sum of the losses in them. */
  readonly gaps: number
  readonly reportedLosses: number
}

/** Counts records, each of which is a line of JSON. */
export function storedIn(lines: Iterable<string>): StoredRecords {
  const copies = new Map<number, number>()
  let gaps = 0
  let reportedLosses = 0
  for (const line of lines) {
    const id = /"path":"\/r\/(\d+)"/.exec(line)?.[1]
    if (id !== undefined) copies.set(Number(id), (copies.get(Number(id)) ?? 0) + 1)
    if (id !== undefined || !line.includes('"kind":"gap"')) continue
    gaps++
    reportedLosses += Number(/"dropped":(\d+)/.exec(line)![1])
  }
  return { copies, gaps, reportedLosses }
}

/** Counts the records of each `KnownLoad` request in the segments of a folder. */
export function countRecords(logDir: string): ReadonlyMap<number, number> {
  const names = readdirSync(logDir, { recursive: true, encoding: 'utf8' })
  const segments = names.filter((name) => name.endsWith('.ndjson'))
  return storedIn(segments.flatMap((name) => readFileSync(join(logDir, name), 'utf8').split('\n'))).copies
}

/** True if all of these requests have a record. */
export function hasAllRecords(records: ReadonlyMap<number, number>, ids: readonly number[]): boolean {
  return ids.every((id) => records.has(id))
}
