import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { segmentFile } from '../writer/segment-name.js'
import { type LatestOptions, latestRecords } from './latest-records.js'
import { recordFilter } from './record-filter.js'

const START_MS = Date.UTC(2026, 0, 31, 12)

/** Writes a segment with one record per end time in seconds. Each request took a second. */
function write(dir: string, worker: number, ends: readonly number[], seq = 0): void {
  const lines = ends.map((second) => {
    const instant = new Date(START_MS + (second - 1) * 1000).toISOString()
    const record = { '@timestamp': instant, id: `r${second}`, res: { status: 200 }, t: { total: 1000 } }
    return `${JSON.stringify(record)}\n`
  })
  writeFileSync(join(dir, segmentFile({ worker, startMs: START_MS, seq })), lines.join(''))
}

async function latest(dir: string, options: Partial<LatestOptions> = {}) {
  const defaults = { filter: recordFilter({}), last: 100, endedSinceMs: null, text: '', maxChars: 1e6 }
  const { views, isComplete } = await latestRecords(dir, { ...defaults, ...options })
  return { ids: views.map(({ record }) => record['id']), isComplete }
}

test('the records that ended last come first, from all workers and segments', async () => {
  const dir = scratchDir()
  write(dir, 0, [1, 2])
  write(dir, 0, [5, 8], 1)
  write(dir, 1, [3, 4, 6, 7])
  assert.deepEqual(await latest(dir, { last: 5 }), { ids: ['r8', 'r7', 'r6', 'r5', 'r4'], isComplete: true })
  assert.deepEqual((await latest(dir)).ids.length, 8)
})

test('the search ends at the time from which records are wanted', async () => {
  const dir = scratchDir()
  write(dir, 0, [1, 2, 3, 4])
  const endedSinceMs = START_MS + 3000
  assert.deepEqual(await latest(dir, { endedSinceMs }), { ids: ['r4', 'r3'], isComplete: true })
})

test('the search ends at its limit, and says so', async () => {
  const dir = scratchDir()
  write(dir, 0, [1, 2, 3, 4])
  const filter = recordFilter({ id: 'r1' })
  assert.deepEqual(await latest(dir, { filter, maxChars: 100 }), { ids: [], isComplete: false })
  assert.deepEqual(await latest(dir, { filter, text: 'r1' }), { ids: ['r1'], isComplete: true })
  assert.deepEqual((await latest(dir, { filter, text: 'r9' })).ids, [])
})
