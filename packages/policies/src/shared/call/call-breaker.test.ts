import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallBreaker } from './call-breaker.js'

test('after consecutive failures occasional calls probe the server, and a success closes the circuit', () => {
  let now = 0
  const breaker = new CallBreaker({ failures: 2, openMs: 100, now: () => now })
  breaker.note(false)
  breaker.note(true)
  breaker.note(false)
  assert.equal(breaker.admits(), true)
  breaker.note(false)
  assert.equal(breaker.admits(), false)
  now = 100
  assert.deepEqual([breaker.admits(), breaker.admits()], [true, false])
  now = 150
  breaker.note(false)
  now = 249
  assert.equal(breaker.admits(), false)
  now = 250
  assert.equal(breaker.admits(), true)
  breaker.note(true)
  assert.deepEqual([breaker.admits(), breaker.admits()], [true, true])
})
