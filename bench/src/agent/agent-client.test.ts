import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measuredOffset } from './agent-client.js'

test('the clock offset comes from the round trip with the least delay', async () => {
  let nowMs = 1000
  let asked = 0
  // All delay is on the way back, the worst case: the error is half of it.
  const delays = [80, 40, 6, 90, 30, 70, 50, 20, 60]
  const offset = await measuredOffset(
    async () => {
      const theirs = nowMs + 250
      nowMs += delays[asked++]!
      return theirs
    },
    () => nowMs,
  )
  assert.equal(asked, delays.length)
  assert.deepEqual(offset, { offsetMs: 247, errorMs: 4 })
  assert.ok(Math.abs(offset.offsetMs - 250) <= offset.errorMs)
})
