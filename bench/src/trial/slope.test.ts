import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slopeOf } from './slope.js'

test('the slope of a line is found without error', () => {
  const samples = [0, 10, 20, 40].map((seconds) => ({ seconds, value: 100 + 3 * seconds }))
  const { perSecond, error } = slopeOf(samples)!
  assert.ok(Math.abs(perSecond - 3) < 1e-9 && error < 1e-9)
})

test('values that scatter around a line have the slope of it, with the error of the textbook', () => {
  // Residuals of 1, -1, -1, 1 around a flat line: their squares make 4, those of the times 5.
  const samples = [1, -1, -1, 1].map((value, seconds) => ({ seconds, value }))
  const { perSecond, error } = slopeOf(samples)!
  assert.ok(Math.abs(perSecond) < 1e-9)
  assert.ok(Math.abs(error - Math.sqrt(4 / 2 / 5)) < 1e-9)
})

test('two samples tell nothing of how sure a slope is', () => {
  assert.equal(slopeOf([0, 1].map((seconds) => ({ seconds, value: seconds }))), null)
})
