import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { CachedClock } from './cached-clock.js'

function passTime(): void {
  const until = performance.now() + 2
  while (performance.now() < until);
}

test('until it is dropped the cached time is used, then that of the system', () => {
  const clock = new CachedClock()
  const began = clock.read()
  passTime()
  assert.equal(clock.now(), began)
  clock.drop()
  assert.ok(clock.now() >= began + 2)
})

test('a nested turn leaves no cached time behind', () => {
  const clock = new CachedClock()
  const outer = clock.read()
  passTime()
  const inner = clock.read()
  clock.drop()
  passTime()
  assert.ok(inner >= outer + 2)
  assert.ok(clock.now() >= inner + 2)
})
