import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quantile, ratesBetween } from './traffic-rates.js'

const bounds = [0.001, 0.01, 0.1]
const traffic = (ok: number, failed: number, buckets: number[]) => ({
  requests: { '2xx': ok, '5xx': failed },
  buckets,
})

test('a quantile is interpolated within its bucket', () => {
  assert.equal(quantile(0.5, [0, 10, 0, 0], bounds)!.toFixed(2), '5.50')
  assert.equal(quantile(0.99, [50, 50, 0, 0], bounds)!.toFixed(2), '9.82')
})

test('a quantile beyond the last bound is that bound, and there is none without requests', () => {
  assert.equal(quantile(0.99, [0, 0, 0, 5], bounds), 100)
  assert.equal(quantile(0.5, [0, 0, 0, 0], bounds), null)
})

test('rates count what was added in the window', () => {
  const rates = ratesBetween(traffic(100, 5, [100, 5, 0, 0]), traffic(300, 15, [300, 15, 0, 0]), {
    seconds: 10,
    bounds,
  })
  assert.deepEqual([rates.requests, rates.errors], [21, 1])
})

test('counters that were reset never give negative rates', () => {
  const rates = ratesBetween(traffic(100, 5, [100, 5, 0, 0]), traffic(2, 0, [2, 0, 0, 0]), {
    seconds: 10,
    bounds,
  })
  assert.deepEqual([rates.requests, rates.errors, rates.p50], [0, 0, null])
})
