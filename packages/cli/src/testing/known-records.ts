import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How often each request of a KnownLoad is in the segments below a folder. */
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

/** Whether all of these requests have a record. */
export function isEachIn(records: ReadonlyMap<number, number>, ids: readonly number[]): boolean {
  return ids.every((id) => records.has(id))
}
