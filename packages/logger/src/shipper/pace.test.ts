import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from './pace.js'

const QUICK_MS = 10
const SLOW_MS = 5001

function afterManyQuick(): Pace {
  const pace = new Pace()
  for (let i = 0; i < 20; i++) pace.delivered(QUICK_MS)
  return pace
}

test('deliveries that go well become more at a time, up to a bound', () => {
  assert.equal(new Pace().concurrency, 1)
  assert.deepEqual([afterManyQuick().concurrency, afterManyQuick().records], [4, 5000])
})

test('a target that has too much, or takes long, gets half: deliveries and records', () => {
  for (const burden of [(pace: Pace) => pace.overloaded(), (pace: Pace) => pace.delivered(SLOW_MS)]) {
    const pace = afterManyQuick()
    burden(pace)
    assert.deepEqual([pace.concurrency, pace.records], [2, 2500])
    for (let i = 0; i < 50; i++) burden(pace)
    assert.deepEqual([pace.concurrency, pace.records], [1, 1])
    for (let i = 0; i < 200; i++) pace.delivered(QUICK_MS)
    assert.deepEqual([pace.concurrency, pace.records], [4, 5000])
  }
})

test('a delivery that was too large makes the next ones smaller, not fewer', () => {
  const pace = afterManyQuick()
  pace.tooLarge(600)
  assert.deepEqual([pace.concurrency, pace.records], [4, 300])
})
