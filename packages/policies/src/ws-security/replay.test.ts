import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplayMemory } from './replay.js'

function memoryOf(windowMs: number, max?: number): ReplayMemory {
  const memory = new ReplayMemory(max)
  memory.widen(windowMs)
  return memory
}

test('a value counts until its time is over', () => {
  const memory = memoryOf(100)
  assert.equal(memory.see('a', 0), 'first')
  assert.equal(memory.see('a', 100), 'again')
  assert.equal(memory.see('b', 100), 'first')
  assert.equal(memory.see('a', 101), 'first')
  assert.equal(memory.see('a', 200), 'again')
})

test('the longest time that anybody asks for holds for all', () => {
  const memory = memoryOf(100)
  assert.equal(memory.see('a', 0), 'first')
  memory.widen(1000)
  memory.widen(10)
  assert.equal(memory.see('a', 1000), 'again')
  assert.equal(memory.see('a', 1001), 'first')
})

test('what counts is never forgotten for what is new', () => {
  const memory = memoryOf(100, 2)
  assert.equal(memory.see('a', 0), 'first')
  assert.equal(memory.see('b', 40), 'first')
  assert.equal(memory.see('c', 50), 'full')
  assert.equal(memory.see('a', 50), 'again')
  assert.equal(memory.see('c', 101), 'first')
})
