import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DueTimes } from './due-times.js'

test('times come out in the order in which they went in, round and round', () => {
  const times = new DueTimes(3)
  let next = 0
  let taken = 0
  for (let i = 0; i < 10; i++) {
    while (times.add(next)) next++
    assert.equal(times.length, 3)
    assert.deepEqual([times.take(), times.take()], [taken, taken + 1])
    taken += 2
  }
  assert.deepEqual([times.take(), times.take(), times.length], [taken, null, 0])
})
