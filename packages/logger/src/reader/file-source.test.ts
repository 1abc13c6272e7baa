import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { segmentFile } from '../segment-name.js'
import { scratchDir } from '../testing.js'
import { FileSource } from './file-source.js'
import { recordFilter } from './record-filter.js'

const START_MS = Date.UTC(2026, 0, 31, 12)
const { signal } = new AbortController()

function write(dir: string, worker: number, seconds: readonly number[]): void {
  const lines = seconds.map((second) => {
    const instant = new Date(START_MS + second * 1000).toISOString()
    return `${JSON.stringify({ '@timestamp': instant, id: String(second) })}\n`
  })
  writeFileSync(join(dir, segmentFile({ worker, startMs: START_MS, seq: 0 })), lines.join(''))
}

async function search(dir: string, last: number, until?: string): Promise<number[]> {
  const source = new FileSource(dir)
  const seconds: number[] = []
  const filter = recordFilter({ until })
  for await (const { record } of source.search({ filter, last, signal })) seconds.push(Number(record['id']))
  return seconds
}

test('a search gives the newest calls by the time they began, however late they were written', async () => {
  const dir = scratchDir()
  write(dir, 0, [1, 2, 9, 3, 4])
  write(dir, 1, [7, 0, 5, 6, 8])
  assert.deepEqual(await search(dir, 3), [7, 8, 9])
  assert.deepEqual(await search(dir, 100), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual(await search(dir, Number.POSITIVE_INFINITY), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const until = new Date(START_MS + 4000).toISOString()
  assert.deepEqual(await search(dir, 2, until), [2, 3])
})

test('a search for everything holds back a bounded number of records', async () => {
  const dir = scratchDir()
  const seconds = Array.from({ length: 30_000 }, (_, i) => i + 1)
  write(dir, 0, [...seconds, 0])
  const found = await search(dir, Number.POSITIVE_INFINITY)
  assert.equal(found.length, 30_001)
  assert.ok(found.indexOf(0) > 0, 'one that is too far from its place comes too late')
  assert.deepEqual(
    found.filter((second) => second !== 0),
    seconds,
  )
})
