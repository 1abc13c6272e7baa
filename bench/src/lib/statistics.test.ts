import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean, median, quantile } from './statistics.js'

test('quantiles are taken by rank, whatever the order of the values', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(quantile([4, 3, 2, 1], 0.25), 2)
  assert.ok(Number.isNaN(median([])))
})

test('a mean is of all values', () => {
  assert.equal(mean([1, 2, 6]), 3)
  assert.ok(Number.isNaN(mean([])))
})
