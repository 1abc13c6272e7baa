import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { beginTurn, deadlineMono, endTurn } from './turn-clock.js'

function passTime(): void {
  const until = performance.now() + 2
  while (performance.now() < until);
}

test('within a turn there is one time, outside of it that of the clock', () => {
  const began = beginTurn()
  passTime()
  assert.equal(deadlineMono(), began)
  endTurn()
  assert.ok(deadlineMono() >= began + 2)
})

test('a turn that begins within another one leaves no time behind', () => {
  const outer = beginTurn()
  passTime()
  const inner = beginTurn()
  endTurn()
  passTime()
  assert.ok(inner >= outer + 2)
  assert.ok(deadlineMono() >= inner + 2)
  endTurn()
})
