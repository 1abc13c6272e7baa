import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { segmentFile } from '../writer/segment-name.js'
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

/** Returns lines that are not records. Every reader counts them. */
const damaged = (lines: number): string => 'not a record, but as long as one usually is\n'.repeat(lines)

test('a search for the newest reads no further back than it has to', async () => {
  const dir = scratchDir()
  write(dir, 0, [1, 2, 3])
  const file = join(dir, segmentFile({ worker: 0, startMs: START_MS, seq: 0 }))
  const wanted = readFileSync(file, 'utf8')
  const seconds = Array.from({ length: 3000 }, (_, i) => i + 100)
  write(dir, 0, seconds)
  writeFileSync(file, wanted + damaged(10_000) + readFileSync(file, 'utf8'))
  // Another worker without recent traffic.
  write(dir, 1, [4])
  const source = new FileSource(dir)
  const found: unknown[] = []
  for await (const { record } of source.search({ filter: recordFilter({}), last: 3, signal }))
    found.push(record['id'])
  assert.deepEqual(found, ['3097', '3098', '3099'])
  assert.equal(source.skipped, 0)
  assert.deepEqual((await search(dir, 3002)).slice(0, 4), [3, 4, 100, 101])
})

test('a call that took long is found where it began, though it was written long after', async () => {
  const dir = scratchDir()
  write(dir, 0, [100, 101, 102])
  const file = join(dir, segmentFile({ worker: 0, startMs: START_MS, seq: 0 }))
  const long = { '@timestamp': new Date(START_MS).toISOString(), id: '0', t: { total: 200_000 } }
  const young = Array.from({ length: 50 }, (_, i) => {
    const instant = new Date(START_MS + (150 + i) * 1000).toISOString()
    return `${JSON.stringify({ '@timestamp': instant, id: String(150 + i), t: { total: 1 } })}\n`
  })
  writeFileSync(file, `${readFileSync(file, 'utf8')}${young.join('')}${JSON.stringify(long)}\n`)
  assert.deepEqual((await search(dir, 54)).slice(0, 2), [0, 100])
  assert.deepEqual(await search(dir, 2), [198, 199])
})

test('a search since a time reads nothing of a file that ended long before it', async () => {
  const dir = scratchDir()
  const seconds = Array.from({ length: 80_000 }, (_, i) => i)
  write(dir, 0, seconds)
  const file = join(dir, segmentFile({ worker: 0, startMs: START_MS, seq: 0 }))
  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [...lines.slice(0, 100), damaged(10).trimEnd(), ...lines.slice(100)].join('\n'))
  const source = new FileSource(dir)
  const filter = recordFilter({ since: new Date(START_MS + 79_000_000).toISOString() })
  const found: unknown[] = []
  for await (const { record } of source.search({ filter, last: Number.POSITIVE_INFINITY, signal }))
    found.push(record['id'])
  assert.equal(found.length, 1000)
  assert.equal(found[0], '79000')
  assert.equal(source.skipped, 0)
})
