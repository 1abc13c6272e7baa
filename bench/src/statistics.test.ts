import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean, median, quantile, trimmedMean } from './statistics.js'

test('quantiles are taken by rank, whatever the order of the values', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(quantile([4, 3, 2, 1], 0.25), 2)
  assert.ok(Number.isNaN(median([])))
})

test('means are of all values, or of the middle ones, which an outlier does not move', () => {
  assert.equal(mean([1, 2, 6]), 3)
  const { value, low, high } = trimmedMean([1, 2, 3, 4, 1000])
  assert.equal(value, 3)
  assert.ok(low <= value && value <= high)
  assert.ok(Number.isNaN(mean([])) && Number.isNaN(trimmedMean([]).value))
})
