import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir, segmentFiles, segmentLines } from '../testing.js'
import { segmentFile } from './segment-name.js'
import { SegmentWriter } from './segment-writer.js'

const LINE_BYTES = 100

function lines(from: number, count: number): Buffer {
  let text = ''
  for (let i = from; i < from + count; i++) text += `${String(i).padStart(LINE_BYTES - 1, '.')}\n`
  return Buffer.from(text)
}

function totalBytes(dir: string): number {
  return segmentFiles(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0)
}

function numbers(dir: string): number[] {
  return segmentLines(dir).map((line) => Number(line.replace(/^\.+/, '')))
}

function writerIn(dir: string, worker: number, startMs = 1000): SegmentWriter {
  return new SegmentWriter({ dir, maxBytes: 10_000, segmentBytes: 1000, worker }, startMs)
}

test('a batch is spread over as many segments as it needs, and none is larger than allowed', () => {
  const dir = scratchDir()
  const writer = writerIn(dir, 0)
  assert.deepEqual(writer.append(lines(0, 25), 25), { written: 25, reason: '', problem: '' })
  assert.deepEqual(writer.append(lines(25, 2), 2), { written: 2, reason: '', problem: '' })
  writer.finish()
  assert.deepEqual(
    segmentFiles(dir).map((file) => statSync(join(dir, file)).size),
    [1000, 1000, 700],
  )
  assert.deepEqual(numbers(dir), [...Array(27).keys()])
})

test('the oldest segments are deleted at the size limit, which is never exceeded', () => {
  const dir = scratchDir()
  const writer = writerIn(dir, 0)
  for (let i = 0; i < 1000; i += 7) {
    writer.append(lines(i, 7), 7)
    assert.ok(totalBytes(dir) <= 10_000, `${totalBytes(dir)} bytes`)
  }
  writer.finish()
  const kept = numbers(dir)
  assert.ok(kept.length >= 85, `${kept.length} lines kept`)
  assert.deepEqual(
    kept,
    [...Array(kept.length).keys()].map((i) => 1001 - kept.length + i),
  )
})

test("several writers share one size limit without deleting each other's open segments", () => {
  const dir = scratchDir()
  const quiet = writerIn(dir, 9)
  quiet.append(lines(7777, 1), 1)
  const old = new Date(Date.now() - 60_000)
  const quietPath = join(dir, segmentFiles(dir)[0]!)
  utimesSync(quietPath, old, old)
  const busy = [writerIn(dir, 0), writerIn(dir, 1), writerIn(dir, 0, 2000)]
  for (let i = 0; i < 600; i += 3) {
    for (const writer of busy) assert.equal(writer.append(lines(i, 3), 3).written, 3)
    assert.ok(totalBytes(dir) <= 10_000, `${totalBytes(dir)} bytes`)
  }
  assert.equal(quiet.append(lines(8888, 1), 1).problem, '')
  assert.deepEqual(readFileSync(quietPath), Buffer.concat([lines(7777, 1), lines(8888, 1)]))
  for (const writer of [quiet, ...busy]) writer.finish()
})

test('the last segment of a writer that has ended is deleted when it is the oldest', () => {
  const dir = scratchDir()
  const gone = writerIn(dir, 9)
  gone.append(lines(0, 1), 1)
  gone.finish()
  const path = join(dir, segmentFiles(dir)[0]!)
  const longAgo = new Date(Date.now() - 3_600_000)
  utimesSync(path, longAgo, longAgo)
  const writer = writerIn(dir, 0)
  writer.append(lines(0, 100), 100)
  writer.finish()
  assert.equal(statSync(path, { throwIfNoEntry: false }), undefined)
})

test('a writer that is quiet for long shows that it lives', () => {
  const dir = scratchDir()
  const writer = writerIn(dir, 0)
  writer.touch(Date.now())
  writer.append(lines(0, 1), 1)
  const path = join(dir, segmentFiles(dir)[0]!)
  utimesSync(path, 0, 0)
  writer.touch(Date.now())
  assert.ok(statSync(path).mtimeMs > Date.now() - 60_000)
  writer.finish()
})

test('other files in the directory are not touched and do not count', () => {
  const dir = scratchDir()
  const others = ['notes.txt', 'traffic-0-1-x.ndjson', 'traffic-0-1-000001.ndjson.gz']
  for (const file of others) writeFileSync(join(dir, file), 'x'.repeat(20_000))
  const writer = writerIn(dir, 0)
  writer.append(lines(0, 500), 500)
  writer.finish()
  for (const file of others) assert.equal(statSync(join(dir, file)).size, 20_000)
  assert.ok(totalBytes(dir) > 8000)
})

test('a segment never uses an existing file or link', () => {
  const dir = scratchDir()
  const target = join(dir, 'target')
  writeFileSync(target, 'mine')
  symlinkSync(target, join(dir, segmentFile({ worker: 0, startMs: 1000, seq: 0 })))
  const writer = writerIn(dir, 0)
  assert.equal(writer.append(lines(0, 1), 1).written, 1)
  writer.finish()
  assert.equal(readFileSync(target, 'utf8'), 'mine')
  assert.ok(segmentFiles(dir).includes(segmentFile({ worker: 0, startMs: 1001, seq: 0 })))
})

test('a segment that is deleted while it is open is replaced and the next lines are kept', () => {
  const dir = scratchDir()
  const writer = writerIn(dir, 0)
  writer.append(lines(0, 1), 1)
  rmSync(join(dir, segmentFiles(dir)[0]!))
  const result = writer.append(lines(1, 1), 1)
  assert.equal(result.written, 1)
  assert.match(result.problem, /was deleted while it was being written/)
  assert.deepEqual(numbers(dir), [1])
  assert.equal(writer.append(lines(2, 1), 1).problem, '')
  writer.finish()
})

test('a truncated segment is filled again up to its size', () => {
  const dir = scratchDir()
  const writer = writerIn(dir, 0)
  writer.append(lines(0, 9), 9)
  truncateSync(join(dir, segmentFiles(dir)[0]!), 0)
  writer.append(lines(9, 10), 10)
  writer.finish()
  assert.equal(segmentFiles(dir).length, 1)
  assert.deepEqual(numbers(dir), [9, 10, 11, 12, 13, 14, 15, 16, 17, 18])
})
