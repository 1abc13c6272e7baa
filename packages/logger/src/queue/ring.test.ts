import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecordWriter } from '../record/record-writer.js'
import { newRing, RingReader, RingWriter } from './ring.js'

const KIB = 1024

function openRing(waitingBytes = 64 * KIB, maxRecordBytes = 64 * KIB) {
  const memory = newRing(waitingBytes, maxRecordBytes)
  return { memory, writer: new RingWriter(memory, waitingBytes), reader: new RingReader(memory) }
}

const record = new RecordWriter()

/** Adds a text as a record. */
function add(writer: RingWriter, text: string): ReturnType<RingWriter['add']> {
  record.begin()
  record.json(text)
  return writer.add(record)
}

/** Returns up to `limit` records. */
function taken(reader: RingReader, limit = Number.POSITIVE_INFINITY): string[] {
  const texts: string[] = []
  reader.read((words, from, to) => {
    const bytes = Buffer.from(new Uint8Array(words.slice(from + 1, to).buffer))
    return texts.push(bytes.toString('latin1', 0, words[from])) < limit
  })
  reader.release()
  return texts
}

test('records of all sizes come out as they went in, however reads and writes alternate', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 64 * KIB }))
  const step = fc.record({ sizes: fc.array(size, { maxLength: 20 }), limit: fc.integer({ min: 1, max: 30 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { writer, reader } = openRing()
      const waiting: string[] = []
      let next = 0
      for (const { sizes, limit } of steps) {
        for (const length of sizes) {
          if (writer.isFull) continue
          const text = `${next++}`.padEnd(length, '.')
          add(writer, text)
          waiting.push(text)
        }
        assert.deepEqual(taken(reader, limit), waiting.splice(0, limit))
      }
      assert.deepEqual(taken(reader), waiting)
    }),
    { numRuns: 200 },
  )
})

test('records of the same size never make a used ring look empty', () => {
  const { writer, reader } = openRing(2048 * KIB, 1024 * KIB)
  for (let size = 300 * KIB; size < 300 * KIB + 8; size++) {
    for (let i = 0; i < 20; i++) {
      add(writer, 'x'.repeat(size))
      assert.equal(taken(reader).length, 1)
    }
  }
})

test('an idle ring stays in the part of the memory that it has used', () => {
  const { memory, writer, reader } = openRing(8 * KIB * KIB)
  for (let i = 0; i < 50_000; i++) {
    add(writer, 'x'.repeat(500))
    if (i % 100 === 0) taken(reader)
  }
  assert.ok(memory.words.subarray((KIB * KIB) / 4).every((word) => word === 0))
})

test('an idle ring has room for all waiting bytes at any time', () => {
  for (let before = 0; before < 3000; before += 100) {
    const { writer, reader } = openRing(512 * KIB)
    for (let i = 0; i < before; i++) {
      add(writer, 'x'.repeat(300))
      taken(reader)
    }
    let records = 0
    for (; !writer.isFull; records++) add(writer, 'x'.repeat(300))
    assert.equal(taken(reader).length, records)
    assert.equal(records, Math.ceil((512 * KIB) / 308))
  }
})

test('a full ring takes nothing and keeps what it has', () => {
  const { writer, reader } = openRing(1000)
  let records = 0
  for (; !writer.isFull; records++) add(writer, String(records).padEnd(96))
  assert.equal(records, 10)
  assert.equal(taken(reader).length, 10)
  assert.equal(writer.isFull, false)
  assert.equal(add(writer, 'x'.repeat(1024 * KIB)), 'drop the record')
})

test('a sleeping reader is woken once, and does not sleep when a record has come', () => {
  const { writer, reader } = openRing()
  assert.equal(add(writer, 'a'), 'nothing')
  assert.equal(reader.sleep(), false)
  taken(reader)
  assert.equal(reader.sleep(), true)
  assert.equal(add(writer, 'b'), 'wake the thread')
  assert.equal(add(writer, 'c'), 'nothing')
})

test('the successor of an ended reader gets what was not released', () => {
  const { memory, writer, reader } = openRing()
  for (const text of ['a', 'b', 'c']) add(writer, text)
  taken(reader, 1)
  reader.read(() => true)
  assert.equal(writer.threadEnded(), 0)
  assert.deepEqual(taken(new RingReader(memory)), ['b', 'c'])
})

test('a mark is passed when all records before it are written, even if the ring never becomes empty', () => {
  const { writer, reader } = openRing()
  assert.equal(writer.isMarkPassed, true)
  add(writer, 'a')
  add(writer, 'b')
  writer.mark()
  add(writer, 'c')
  taken(reader, 1)
  assert.equal(writer.isMarkPassed, false)
  taken(reader, 1)
  assert.equal(writer.isMarkPassed, true)
  assert.deepEqual(taken(reader), ['c'])
})
