import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplayMemory } from './replay.js'

test('a value counts until its moment', () => {
  const memory = new ReplayMemory()
  assert.equal(memory.see('a', 100, 0), 'first')
  assert.equal(memory.see('a', 200, 100), 'again')
  assert.equal(memory.see('b', 200, 100), 'first')
  assert.equal(memory.see('a', 300, 101), 'first')
  assert.equal(memory.see('a', 300, 200), 'again')
})

test('what counts is never forgotten for what is new', () => {
  const memory = new ReplayMemory(2)
  assert.equal(memory.see('a', 100, 0), 'first')
  assert.equal(memory.see('b', 200, 0), 'first')
  assert.equal(memory.see('c', 200, 50), 'full')
  assert.equal(memory.see('a', 200, 50), 'again')
  assert.equal(memory.see('c', 300, 101), 'first')
})
