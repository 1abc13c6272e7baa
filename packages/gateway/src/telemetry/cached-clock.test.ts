import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { cacheClock, deadlineMono, dropCachedClock } from './cached-clock.js'

function passTime(): void {
  const until = performance.now() + 2
  while (performance.now() < until);
}

test('within a turn there is one time, outside of it that of the clock', () => {
  const began = cacheClock()
  passTime()
  assert.equal(deadlineMono(), began)
  dropCachedClock()
  assert.ok(deadlineMono() >= began + 2)
})

test('a turn that begins within another one leaves no time behind', () => {
  const outer = cacheClock()
  passTime()
  const inner = cacheClock()
  dropCachedClock()
  passTime()
  assert.ok(inner >= outer + 2)
  assert.ok(deadlineMono() >= inner + 2)
  dropCachedClock()
})
