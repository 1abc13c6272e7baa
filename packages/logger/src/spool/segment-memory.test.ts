import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SegmentMemory } from './segment-memory.js'

const FULL = Buffer.alloc(1024 ** 2, 'f')

test('the buffer of a removed segment is reused', () => {
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

test('shared frames are not overwritten after the segment is removed', () => {
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

test('a sealed segment with few frames uses a small buffer', () => {
  const memory = new SegmentMemory()
  memory.add(Buffer.from('one'))
  memory.add(Buffer.from('two'))
  memory.seal()
  assert.equal(memory.frames.buffer.byteLength, 6)
  assert.equal(memory.frames.toString(), 'onetwo')
})

test('the buffer grows for large segments', () => {
  const memory = new SegmentMemory()
  memory.add(FULL)
  memory.add(Buffer.alloc(1024 ** 2, 'g'))
  memory.add(Buffer.from('h'))
  assert.ok(memory.frames.equals(Buffer.concat([FULL, Buffer.alloc(1024 ** 2, 'g'), Buffer.from('h')])))
})
