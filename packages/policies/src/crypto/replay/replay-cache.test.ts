import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplayCache } from './replay-cache.js'

test('a value counts until its time is over', () => {
  const memory = new ReplayCache(9, 100)
  assert.equal(memory.use('a', 0), 'first')
  assert.equal(memory.use('a', 100), 'replayed')
  assert.equal(memory.use('b', 100), 'first')
  assert.equal(memory.use('a', 101), 'first')
  assert.equal(memory.use('a', 200), 'replayed')
})

test('the longest requested lifetime applies to all', () => {
  const memory = new ReplayCache(9, 100)
  assert.equal(memory.use('a', 0), 'first')
  memory.widen(1000)
  memory.widen(10)
  assert.equal(memory.use('a', 1000), 'replayed')
  assert.equal(memory.use('a', 1001), 'first')
})

test('live entries are never evicted for new ones', () => {
  const memory = new ReplayCache(2, 100)
  assert.equal(memory.use('a', 0), 'first')
  assert.equal(memory.use('b', 40), 'first')
  assert.equal(memory.use('c', 50), 'full')
  assert.equal(memory.use('a', 50), 'replayed')
  assert.equal(memory.use('c', 101), 'first')
})
