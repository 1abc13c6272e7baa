import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { openFileSink } from '../sinks/file-sink.js'
import { closeWhole, sampleExchange, scratchDir, segmentFiles, until } from '../testing.js'
import { segmentFile } from '../writer/segment-name.js'
import { MAX_LINE_BYTES } from './line-splitter.js'
import { type FilterRequest, recordFilter } from './record-filter.js'
import { TrafficTail } from './tail.js'

const START_MS = Date.UTC(2026, 0, 31, 12)

/** Returns the shortest possible record, with a time in seconds after the start. */
function line(second: number, more: object = {}): string {
  const instant = new Date(START_MS + second * 1000).toISOString()
  return `${JSON.stringify({ '@timestamp': instant, id: String(second), ...more })}\n`
}

function path(dir: string, worker: number, seq = 0, startMs = START_MS): string {
  return join(dir, segmentFile({ worker, startMs, seq }))
}

function tail(dir: string, last: number, request: FilterRequest = {}): TrafficTail {
  const signal = new AbortController().signal
  return new TrafficTail(dir, { follow: false, last, filter: recordFilter(request), signal })
}

async function ids(records: TrafficTail): Promise<string[]> {
  const found: string[] = []
  for await (const { record } of records) found.push(String(record['id']))
  return found
}

/** Follows a directory in the background; `seen` grows with every record. */
function follow(t: TestContext, dir: string, last: number) {
  const stop = new AbortController()
  const filter = recordFilter({})
  const records = new TrafficTail(dir, { follow: true, last, filter, signal: stop.signal })
  const seen: string[] = []
  const reading = (async () => {
    for await (const { record } of records) seen.push(String(record['id']))
  })()
  t.after(async () => {
    stop.abort()
    await reading
  })
  return { seen, records, stop, reading }
}

function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => String(from + i))
}

test('the last records of all workers come in the order of time', async () => {
  const dir = scratchDir()
  writeFileSync(path(dir, 0, 0), line(1) + line(4))
  writeFileSync(path(dir, 0, 1), line(5) + line(8))
  writeFileSync(path(dir, 1), line(2) + line(3) + line(6) + line(7))
  assert.deepEqual(await ids(tail(dir, 5)), numbers(4, 9))
  assert.deepEqual(await ids(tail(dir, 100)), numbers(1, 9))
  assert.deepEqual(await ids(tail(dir, Number.POSITIVE_INFINITY)), numbers(1, 9))
  assert.deepEqual(await ids(tail(dir, 0)), [])
})

test('the last records are the last that the filter takes', async () => {
  const dir = scratchDir()
  writeFileSync(
    path(dir, 0),
    [1, 2, 3, 4, 5, 6].map((i) => line(i, { res: { status: i % 2 ? 200 : 503 } })).join(''),
  )
  assert.deepEqual(await ids(tail(dir, 2, { status: '5xx' })), ['4', '6'])
  assert.deepEqual(await ids(tail(dir, Number.POSITIVE_INFINITY, { status: '5xx' })), ['2', '4', '6'])
})

test('segments that were last written before the time asked for are not opened', async () => {
  const dir = scratchDir()
  writeFileSync(path(dir, 0, 0), 'this would count as skipped\n')
  utimesSync(path(dir, 0, 0), START_MS / 1000 - 10, START_MS / 1000 - 10)
  writeFileSync(path(dir, 0, 1), line(1) + line(3))
  const since = new Date(START_MS + 2000).toISOString()
  for (const last of [10, Number.POSITIVE_INFINITY]) {
    const records = tail(dir, last, { since })
    assert.deepEqual(await ids(records), ['3'])
    assert.equal(records.skippedLines, 0)
  }
})

test('the line of a record is handed on as it was written', async () => {
  const dir = scratchDir()
  const written = line(1, { url: { path: '/caf\u00e9' } })
  writeFileSync(path(dir, 0), written)
  for await (const record of tail(dir, 1)) assert.equal(`${record.line}\n`, written)
})

test('a truncated line in a closed segment is skipped and counted', async () => {
  const dir = scratchDir()
  writeFileSync(path(dir, 0, 0), `${line(1)}{"@timest`)
  writeFileSync(path(dir, 0, 1), `not a record\n[]\n${line(2)}`)
  for (const last of [10, Number.POSITIVE_INFINITY]) {
    const records = tail(dir, last)
    assert.deepEqual(await ids(records), ['1', '2'])
    assert.equal(records.skippedLines, 3)
  }
})

test('a line without end in the segment that is written is left for later', async (t) => {
  const dir = scratchDir()
  writeFileSync(path(dir, 0), line(1) + line(2).slice(0, 20))
  for (const last of [10, Number.POSITIVE_INFINITY]) {
    const records = tail(dir, last)
    assert.deepEqual(await ids(records), ['1'])
    assert.equal(records.skippedLines, 0)
  }
  const following = follow(t, dir, 10)
  await until(() => following.seen.length === 1, 'the whole line is seen')
  appendFileSync(path(dir, 0), line(2).slice(20))
  await until(() => following.seen.length === 2, 'the rest of the line is seen')
  assert.deepEqual(following.seen, ['1', '2'])
  assert.equal(following.records.skippedLines, 0)
})

test('a line without end that is longer than any record is skipped', async () => {
  const dir = scratchDir()
  const endless = 'x'.repeat(3 * MAX_LINE_BYTES)
  writeFileSync(path(dir, 0), `${line(1)}${endless}\n${line(2)}`)
  for (const last of [10, Number.POSITIVE_INFINITY]) {
    const records = tail(dir, last)
    assert.deepEqual(await ids(records), ['1', '2'])
    assert.equal(records.skippedLines, 1)
  }
})

test('reading backward and reading forward find the same lines, wherever blocks end', async () => {
  const dir = scratchDir()
  const lengths = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 65_000, max: 66_000 })),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  await fc.assert(
    fc.asyncProperty(lengths, async (sizes) => {
      writeFileSync(path(dir, 0), sizes.map((size, i) => line(i, { pad: 'x'.repeat(size) })).join(''))
      const all = numbers(0, sizes.length)
      assert.deepEqual(await ids(tail(dir, Number.POSITIVE_INFINITY)), all)
      assert.deepEqual(await ids(tail(dir, sizes.length)), all)
      assert.deepEqual(await ids(tail(dir, 1)), all.slice(-1))
    }),
    { numRuns: 40 },
  )
})

test('a long history of overlapping runs is merged by time', async () => {
  const dir = scratchDir()
  const pad = { pad: 'x'.repeat(2000) }
  for (let i = 0; i < 2000; i++) appendFileSync(path(dir, i % 3, Math.floor(i / 500)), line(i, pad))
  writeFileSync(path(dir, 0, 0, START_MS + 2_000_000), line(2000) + line(2001))
  assert.deepEqual(await ids(tail(dir, Number.POSITIVE_INFINITY)), numbers(0, 2002))
  assert.deepEqual(await ids(tail(dir, 1500)), numbers(502, 2002))
})

test('following shows what a sink writes, over rotation and the deletion of old segments', async (t) => {
  const dir = scratchDir()
  const following = follow(t, dir, 0)
  const sinks = [0, 1].map((worker) =>
    openFileSink({
      ...{ dir, maxBytes: 1024 ** 2, segmentBytes: 20_000, fields: 'standard', worker, version: '1' },
      configDigest: () => 'abc',
    }),
  )
  t.after(() => Promise.all(sinks.map((sink) => closeWhole(sink, 1000))))
  let recorded = 0
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 400; i++) sinks[i % 2]!.record(sampleExchange({ id: String(recorded++) }))
    await until(() => following.seen.length === recorded, `${recorded} records are seen`)
  }
  assert.deepEqual([...following.seen].sort(), numbers(0, recorded).sort())
  assert.ok(!segmentFiles(dir).some((file) => file.endsWith('-000000.ndjson')), 'old segments are gone')
  assert.equal(following.records.skippedLines, 0)
})

test('following goes on after a segment was deleted, truncated, or the directory made again', async (t) => {
  const dir = join(scratchDir(), 'traffic')
  mkdirSync(dir)
  writeFileSync(path(dir, 0, 0), line(1) + line(2))
  const following = follow(t, dir, 1)
  await until(() => following.seen.length === 1, 'the last record is seen')
  rmSync(path(dir, 0, 0))
  writeFileSync(path(dir, 0, 1), line(3) + line(4))
  await until(() => following.seen.length === 3, 'the next segment is seen')
  truncateSync(path(dir, 0, 1), 0)
  appendFileSync(path(dir, 0, 1), line(5))
  await until(() => following.seen.length === 4, 'what follows the truncation is seen')
  rmSync(dir, { recursive: true })
  mkdirSync(dir)
  writeFileSync(path(dir, 1, 0, START_MS + 1), line(6))
  await until(() => following.seen.length === 5, 'the new directory is seen')
  assert.deepEqual(following.seen, ['2', '3', '4', '5', '6'])
})

test('following ends without an error when it is asked to', async (t) => {
  const dir = scratchDir()
  writeFileSync(path(dir, 0), line(1))
  const { stop, reading, seen } = follow(t, dir, 10)
  await until(() => seen.length === 1, 'the record is seen')
  stop.abort()
  await reading
})

test('a directory that is not there is an error that says what to name', async () => {
  await assert.rejects(
    ids(tail(join(scratchDir(), 'nowhere'), 1)),
    /no traffic log found in .*nowhere; name the folder with --dir/,
  )
})
