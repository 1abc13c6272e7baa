import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type UploadSink, WireUpload } from './wire-upload.js'

const MEGABYTE = 1024 * 1024

/** A connection that accepts everything, or nothing more after each write. */
class FakeSink implements UploadSink {
  readonly written: Buffer[] = []
  unsentBytes = 0
  hasRoom = true
  isBroken = false

  write(bytes: Buffer): boolean {
    this.written.push(bytes)
    return this.hasRoom
  }

  onUploadBroken(): void {
    this.isBroken = true
  }

  get text(): string {
    return Buffer.concat(this.written).toString('latin1')
  }
}

test('a body of unknown length is sent in chunks and with its end, whenever there is a connection', () => {
  const sink = new FakeSink()
  const upload = new WireUpload(-1, () => {})
  upload.add(Buffer.from('abc'))
  upload.attach(sink)
  upload.add(Buffer.from('0123456789abcdef'))
  upload.add(Buffer.alloc(0))
  assert.equal(upload.isDone, false)
  upload.end()
  assert.equal(sink.text, '3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n')
  assert.equal(upload.isDone, true)
})

test('chunks are copied: the bytes may change once they were added', () => {
  const sink = new FakeSink()
  const upload = new WireUpload(6, () => {})
  const chunk = Buffer.from('abc')
  upload.add(chunk)
  upload.attach(sink)
  upload.add(chunk)
  chunk.fill('x')
  upload.end()
  assert.equal(sink.text, 'abcabc')
})

test('a full connection pauses the client and resumes it when it has drained', () => {
  const sink = new FakeSink()
  let drained = 0
  const upload = new WireUpload(30, () => drained++)
  upload.attach(sink)
  sink.hasRoom = false
  assert.equal(upload.add(Buffer.alloc(10)), false)
  assert.equal(drained, 0)
  sink.hasRoom = true
  upload.flush()
  assert.equal(drained, 1)
  assert.equal(upload.add(Buffer.alloc(20)), true)
  upload.end()
  assert.equal(upload.isDone, true)
})

test('chunks that arrive despite a full connection wait in memory and in a file, and leave in order', () => {
  const sink = new FakeSink()
  let drained = 0
  const upload = new WireUpload(8 * MEGABYTE, () => drained++)
  const sent = Buffer.alloc(8 * MEGABYTE, 'The quick brown fox. ')
  sink.hasRoom = false
  for (let i = 0; i < 16; i++) upload.add(sent.subarray((i * MEGABYTE) / 2, ((i + 1) * MEGABYTE) / 2))
  upload.attach(sink)
  assert.equal(sink.written.length, 1)
  upload.end()
  assert.equal(upload.isDone, false)
  sink.hasRoom = true
  upload.flush()
  assert.equal(upload.isDone, true)
  assert.ok(Buffer.concat(sink.written).equals(sent))
  assert.equal(drained, 0)
})

test('a body that is longer or shorter than announced never appears complete', () => {
  for (const length of [3, 5]) {
    const sink = new FakeSink()
    const upload = new WireUpload(length, () => {})
    upload.attach(sink)
    upload.add(Buffer.from('abcd'))
    upload.end()
    assert.equal(sink.isBroken, true, `announced ${length}`)
    assert.equal(upload.isDone, false)
  }
})

test('nothing is written for an abandoned upload', () => {
  const sink = new FakeSink()
  const upload = new WireUpload(-1, () => assert.fail('nobody waits any more'))
  upload.add(Buffer.from('abc'))
  upload.destroy()
  upload.attach(sink)
  assert.equal(upload.add(Buffer.from('abc')), true)
  upload.end()
  assert.deepEqual(sink.written, [])
})

test('trailers are sent after the last chunk, without those that would break the framing', () => {
  const sink = new FakeSink()
  const upload = new WireUpload(-1, () => {})
  upload.attach(sink)
  upload.add(Buffer.from('abc'))
  upload.end(['x-sum', '7', 'content-length', '9', 'x-bad', 'a\r\nb: c', 'x bad', '1'])
  assert.equal(sink.text, '3\r\nabc\r\n0\r\nx-sum: 7\r\n\r\n')
})
