import assert from 'node:assert/strict'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Capture, type LogSink } from '@sluice/core'
import {
  assertIdentity,
  captureRules,
  closeWhole,
  sampleExchange,
  scratchDir,
  segmentFiles,
  segmentLines,
  until,
} from '../testing.js'
import { type FileSinkOptions, openFileSink } from './file-sink.js'

const MIB = 1024 ** 2

function open(dir: string, changes: Partial<FileSinkOptions> = {}): LogSink {
  return openFileSink({
    ...{ dir, maxBytes: 64 * MIB, segmentBytes: 4 * MIB, fields: 'standard', worker: 0, version: '0.1.0' },
    ...{ configDigest: () => 'abc', onProblem: (message) => assert.fail(message) },
    ...changes,
  })
}

function recordMany(sink: LogSink, ids: Iterable<string>): void {
  for (const id of ids) {
    sink.record(sampleExchange({ id }))
    assertIdentity(sink.identity())
  }
}

function* numbered(prefix: string, count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield `${prefix}-${i}`
}

function idsIn(dir: string): string[] {
  return segmentLines(dir).map((line) => JSON.parse(line).id)
}

test('every record is on disk, in order, when the sink is closed', async () => {
  const dir = scratchDir()
  const sink = open(dir)
  recordMany(sink, numbered('r', 5000))
  assert.equal(sink.identity().received, 5000)
  await sink.close(10_000)
  assertIdentity(sink.identity())
  assert.deepEqual(
    { ...sink.identity() },
    {
      received: 5000,
      indexed: 5000,
      dead: 0,
      deadRemoved: 0,
      dropped: 0,
      droppedBy: {},
      onDisk: 0,
      inMemory: 0,
      lagMs: 0,
    },
  )
  assert.deepEqual(idsIn(dir), [...numbered('r', 5000)])
})

test('a single record reaches the disk without another one and without closing', async (t) => {
  const dir = scratchDir()
  const sink = open(dir)
  t.after(() => closeWhole(sink, 1000))
  recordMany(sink, ['lonely'])
  await until(() => sink.identity().indexed === 1, 'the record is written')
  assertIdentity(sink.identity())
  assert.deepEqual(idsIn(dir), ['lonely'])
})

test('the identity holds at every moment while records come and go', async (t) => {
  const dir = scratchDir()
  const sink = open(dir, { queueBytes: 200_000, flushMs: 1, onProblem: () => {} })
  t.after(() => closeWhole(sink, 1000))
  for (let burst = 0; burst < 40; burst++) {
    recordMany(sink, numbered(`b${burst}`, 250))
    await new Promise((resolve) => setImmediate(resolve))
    assertIdentity(sink.identity())
  }
  await until(() => sink.identity().inMemory === 0, 'all is settled')
  assertIdentity(sink.identity())
  assert.equal(idsIn(dir).length, sink.identity().indexed)
})

test('files and directories are readable by the owner alone', async () => {
  const dir = join(scratchDir(), 'deep', 'traffic')
  const sink = open(dir)
  recordMany(sink, ['one'])
  await sink.close(5000)
  assert.equal(statSync(dir).mode & 0o777, 0o700)
  assert.equal(statSync(join(dir, segmentFiles(dir)[0]!)).mode & 0o777, 0o600)
})

test('two sinks share a directory and never a file', async () => {
  const dir = scratchDir()
  const sinks = [open(dir, { worker: 0 }), open(dir, { worker: 1 }), open(dir, { worker: 1 })]
  for (let i = 0; i < 600; i++) {
    for (const [index, sink] of sinks.entries()) recordMany(sink, [`${index}-${i}`])
  }
  await Promise.all(sinks.map((sink) => sink.close(5000)))
  for (const sink of sinks) assertIdentity(sink.identity())
  assert.equal(segmentFiles(dir).length, 3)
  assert.equal(new Set(idsIn(dir)).size, 1800)
})

test('a new sink begins a new file and leaves the old ones alone', async () => {
  const dir = scratchDir()
  for (const id of ['first', 'second']) {
    const sink = open(dir)
    recordMany(sink, [id])
    await sink.close(5000)
  }
  assert.equal(segmentFiles(dir).length, 2)
  assert.deepEqual(idsIn(dir), ['first', 'second'])
})

test('a directory that cannot be written is refused when the sink is opened', () => {
  const file = join(scratchDir(), 'file')
  writeFileSync(file, '')
  assert.throws(() => open(file), /cannot write the traffic log to .*file: .*choose another log\.file\.dir/)
  assert.throws(() => open(join(file, 'below')), /cannot write the traffic log to/)
})

test('a cap that cannot hold a log is refused when the sink is opened', () => {
  assert.throws(() => open(scratchDir(), { maxBytes: MIB - 1 }), /set it to at least 1mb/)
})

test('a record that finds the queue full is dropped, counted and reported', async (t) => {
  const dir = scratchDir()
  const problems: string[] = []
  const sink = open(dir, { queueBytes: 2000, onProblem: (message) => problems.push(message) })
  t.after(() => closeWhole(sink, 1000))
  recordMany(sink, numbered('r', 100))
  const { droppedBy, inMemory } = sink.identity()
  assert.ok(inMemory >= 1 && inMemory < 20, `${inMemory} held`)
  assert.deepEqual(droppedBy, { queue_full: 100 - inMemory })
  await until(() => problems.length > 0, 'the loss is reported')
  assert.equal(problems[0], `${100 - inMemory} records lost: the writer of the traffic log is too slow`)
  await until(() => sink.identity().inMemory === 0, 'the held records are written')
  recordMany(sink, ['later'])
  await until(() => sink.identity().indexed === inMemory + 1, 'the sink takes records again')
  assert.ok(idsIn(dir).includes('later'))
})

test('a record that no segment can hold is dropped and counted', async () => {
  const dir = scratchDir()
  const problems: string[] = []
  const sink = open(dir, { segmentBytes: 4096, onProblem: (message) => problems.push(message) })
  sink.record(sampleExchange({ path: `/${'a'.repeat(5000)}` }))
  sink.record(sampleExchange({ route: { template: `/${'a'.repeat(5000)}` } }))
  recordMany(sink, ['small'])
  await sink.close(5000)
  assert.deepEqual(sink.identity().droppedBy, { too_large: 2 })
  assert.equal(sink.identity().indexed, 1)
  assert.match(problems[0] ?? '', /does not fit in a segment/)
})

test('a record larger than a batch is written whole', async () => {
  const dir = scratchDir()
  const sink = open(dir)
  const path = `/${'a'.repeat(200_000)}`
  recordMany(sink, ['before'])
  sink.record(sampleExchange({ path }))
  recordMany(sink, ['after'])
  await sink.close(5000)
  assert.equal(sink.identity().indexed, 3)
  assert.equal(JSON.parse(segmentLines(dir)[1]!).url.path, path)
})

test('an exchange that cannot be encoded is counted and does not throw', async () => {
  const problems: string[] = []
  const sink = open(scratchDir(), { onProblem: (message) => problems.push(message) })
  sink.record(sampleExchange({ headers: null as unknown as string[] }))
  assertIdentity(sink.identity())
  await sink.close(5000)
  assert.deepEqual(sink.identity().droppedBy, { not_encodable: 1 })
  assert.match(problems[0] ?? '', /1 records lost: TypeError/)
})

test('records that come after closing are counted as dropped', async () => {
  const sink = open(scratchDir())
  await sink.close(5000)
  recordMany(sink, ['late'])
  assert.deepEqual(sink.identity().droppedBy, { closed: 1 })
  await sink.close(5000)
})

test('a directory that is removed while it is written is made again', async (t) => {
  const dir = join(scratchDir(), 'traffic')
  const problems: string[] = []
  const sink = open(dir, { onProblem: (message) => problems.push(message) })
  t.after(() => closeWhole(sink, 1000))
  recordMany(sink, ['lost with the directory'])
  await until(() => sink.identity().indexed === 1, 'the first record is written')
  rmSync(dir, { recursive: true })
  recordMany(sink, numbered('after', 300))
  await until(() => sink.identity().indexed === 301, 'the others are written')
  assertIdentity(sink.identity())
  assert.deepEqual(idsIn(dir), [...numbered('after', 300)])
  assert.match(problems[0] ?? '', /was deleted while it was being written; started a new segment/)
})

test('records that the file system refuses are counted, and writing goes on when it can', async (t) => {
  const parent = scratchDir()
  const dir = join(parent, 'traffic')
  const problems: string[] = []
  const sink = open(dir, { onProblem: (message) => problems.push(message) })
  t.after(() => closeWhole(sink, 1000))
  rmSync(dir, { recursive: true })
  writeFileSync(dir, 'in the way')
  recordMany(sink, numbered('refused', 3))
  await until(() => sink.identity().dropped === 3, 'the records are given up')
  assertIdentity(sink.identity())
  assert.deepEqual(sink.identity().droppedBy, { write_error: 3 })
  assert.match(
    problems[0] ?? '',
    /3 records lost: .*(file already exists|a part of its path is not a directory)/,
  )
  rmSync(dir)
  mkdirSync(dir)
  recordMany(sink, ['again'])
  await until(() => sink.identity().indexed === 1, 'the next record is written')
  assert.deepEqual(idsIn(dir), ['again'])
})

test('a problem that lasts is reported once a second at most', async (t) => {
  const reported: number[] = []
  const sink = open(scratchDir(), { queueBytes: 1, onProblem: () => reported.push(performance.now()) })
  t.after(() => closeWhole(sink, 1000))
  await until(() => {
    recordMany(sink, numbered('r', 20))
    return reported.length === 3
  }, 'three reports')
  for (let i = 1; i < reported.length; i++)
    assert.ok(reported[i]! - reported[i - 1]! >= 999, reported.join(' '))
})

test('a record that its bodies make too large is reported without them', async () => {
  const dir = scratchDir()
  const sink = open(dir, { maxBytes: 2 * MIB, segmentBytes: 2 * MIB, writers: 16 })
  const x = sampleExchange({ contentLength: -1 })
  x.record.capture = new Capture(
    captureRules({ requestIn: { headers: true, body: true }, maxBodyBytes: 65_536 }),
    x,
  )
  // Each byte is six characters of JSON.
  x.record.capture.onRequestChunk(Buffer.alloc(65_536, 1))
  sink.record(x)
  await sink.close(5000)
  const [line] = segmentLines(dir)
  const record = JSON.parse(line!)
  assert.equal(record.body, undefined)
  assert.equal(record.hdr.req_in['content-type'], 'application/json')
  assert.equal(sink.identity().dropped, 0)
})

test('records of clients that send a new host and user agent each time are right', async () => {
  const dir = scratchDir()
  const sink = open(dir)
  for (let i = 0; i < 3000; i++) {
    const agent = `agent-${i}-${'x'.repeat(i % 300)}\u0001"\\`
    sink.record(sampleExchange({ id: `r-${i}`, host: `${i}.example.com`, headers: ['user-agent', agent] }))
    if (i % 500 === 0) await until(() => sink.identity().inMemory === 0, 'the queue is empty')
  }
  await sink.close(10_000)
  const records = segmentLines(dir).map((line) => JSON.parse(line))
  assert.equal(records.length, 3000)
  for (const [i, { id, url, ua }] of records.entries()) {
    const agent = `agent-${i}-${'x'.repeat(i % 300)}\u0001"\\`
    assert.deepEqual([id, url.host, ua], [`r-${i}`, `${i}.example.com`, agent])
  }
})
