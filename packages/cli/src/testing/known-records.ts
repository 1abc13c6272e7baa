import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Counts the records of each `KnownLoad` request in the segments of a folder. */
export function countRecords(logDir: string): Map<number, number> {
  const counts = new Map<number, number>()
  for (const name of readdirSync(logDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ndjson')) continue
    for (const [, id] of readFileSync(join(logDir, name), 'utf8').matchAll(/"path":"\/r\/(\d+)"/g)) {
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1)
    }
  }
  return counts
}

/** True if all of these requests have a record. */
export function hasAllRecords(records: ReadonlyMap<number, number>, ids: readonly number[]): boolean {
  return ids.every((id) => records.has(id))
}
