import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveBack, OpenBatch } from './open-batch.js'

const LINE = `${'x'.repeat(1023)}\n`

function filled(lines: number): OpenBatch {
  const batch = new OpenBatch(LINE.length)
  for (let i = 0; i < lines; i++) batch.add(LINE)
  return batch
}

test('a buffer that came back is filled again', () => {
  const { buffer, length } = filled(100).seal()
  assert.equal(length, 100 * LINE.length)
  giveBack(buffer)
  assert.equal(filled(100).seal().buffer, buffer)
})

test('a batch of few records takes no more room than they do', () => {
  assert.equal(filled(3).seal().buffer.byteLength, 3 * LINE.length)
})

test('a buffer of an unusual size is not kept', () => {
  const buffer = new ArrayBuffer(1000)
  giveBack(buffer)
  assert.notEqual(filled(100).seal().buffer, buffer)
})
