import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SegmentMemory } from './segment-memory.js'

const FULL = Buffer.alloc(1024 ** 2, 'f')

test('the room of a segment that is gone serves the next one', () => {
  const first = new SegmentMemory()
  first.add(FULL)
  const { buffer } = first.frames
  first.release()
  const second = new SegmentMemory()
  second.add(Buffer.from('two'))
  assert.equal(second.frames.buffer, buffer)
  assert.equal(second.frames.toString(), 'two')
  second.release()
})

test('frames that somebody may still look at stay as they are when the segment is gone', () => {
  const first = new SegmentMemory()
  first.add(Buffer.from('one'))
  const { frames } = first
  first.share()
  first.release()
  const second = new SegmentMemory()
  second.add(Buffer.from('two'))
  assert.equal(frames.toString(), 'one')
  second.release()
})

test('few frames take little room once no more can come', () => {
  const memory = new SegmentMemory()
  memory.add(Buffer.from('one'))
  memory.add(Buffer.from('two'))
  memory.seal()
  assert.equal(memory.frames.buffer.byteLength, 6)
  assert.equal(memory.frames.toString(), 'onetwo')
})

test('more frames than a usual segment has find room', () => {
  const memory = new SegmentMemory()
  memory.add(FULL)
  memory.add(Buffer.alloc(1024 ** 2, 'g'))
  memory.add(Buffer.from('h'))
  assert.ok(memory.frames.equals(Buffer.concat([FULL, Buffer.alloc(1024 ** 2, 'g'), Buffer.from('h')])))
})
