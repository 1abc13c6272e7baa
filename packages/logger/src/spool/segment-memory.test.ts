import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionLine } from './block.js'
import { SegmentMemory } from './segment-memory.js'

const FULL = 'f'.repeat(1024 ** 2)

function add(memory: SegmentMemory, text: string, number = 0): void {
  memory.keep(memory.encode(Buffer.from(`${text}\n`), 1, { prefix: 'k', number }))
}

function linesOf(...texts: readonly string[]): string {
  return texts.map((text, i) => `${actionLine(`k-${i}`)}${text}\n`).join('')
}

test('the buffer of a removed segment is reused', () => {
  const first = new SegmentMemory()
  add(first, FULL)
  const { buffer } = first.body
  first.release()
  const second = new SegmentMemory()
  add(second, 'two')
  assert.equal(second.body.buffer, buffer)
  assert.equal(second.body.toString(), linesOf('two'))
  second.release()
})

test('shared records are not overwritten after the segment is removed', () => {
  const first = new SegmentMemory()
  add(first, 'one')
  const { body } = first
  first.share()
  first.release()
  const second = new SegmentMemory()
  add(second, 'two')
  assert.equal(body.toString(), linesOf('one'))
  second.release()
})

test('a sealed segment with few records uses a small buffer', () => {
  const memory = new SegmentMemory()
  add(memory, 'one')
  add(memory, 'two', 1)
  memory.seal()
  assert.equal(memory.body.buffer.byteLength, memory.body.length)
  assert.equal(memory.body.toString(), linesOf('one', 'two'))
})

test('the buffer grows for large segments', () => {
  const memory = new SegmentMemory()
  const large = 'g'.repeat(1024 ** 2)
  add(memory, FULL)
  add(memory, large, 1)
  add(memory, 'h', 2)
  assert.ok(memory.body.equals(Buffer.from(linesOf(FULL, large, 'h'))))
})

test('a body that is not kept is replaced by the next', () => {
  const memory = new SegmentMemory()
  add(memory, 'one')
  memory.encode(Buffer.from('lost\n'), 1, { prefix: 'k', number: 1 })
  add(memory, 'two', 1)
  assert.equal(memory.body.toString(), linesOf('one', 'two'))
})
