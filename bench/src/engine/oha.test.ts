import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ohaResult } from './oha.js'

/** What oha 1.16.0 wrote, without the parts that nobody reads. */
const GOOD = {
  summary: {
    total: 1.501322755,
    slowest: 0.021345129,
    average: 0.0011757005986666683,
  },
  latencyPercentiles: {
    p10: 0.000592468,
    p25: 0.000646892,
    p50: 0.000722244,
    p75: 0.000842909,
    p90: 0.0013621,
    p95: 0.002863929,
    p99: 0.013824021,
    'p99.9': 0.021345129,
    'p99.99': 0.021345129,
  },
  statusCodeDistribution: { '200': 750 },
  errorDistribution: { 'aborted due to deadline': 1 },
}
const NO_LATENCY = { slowest: null, average: null }

test("oha's JSON is read in microseconds, and what was under way at the end is no error", () => {
  const { requests, seconds, errors, latency } = ohaResult(JSON.stringify(GOOD), true)
  assert.equal(requests, 750)
  assert.equal(seconds, 1.501322755)
  assert.deepEqual(errors, { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 })
  assert.deepEqual(latency!.percentiles.at(2), { percentile: 50, micros: 722 })
  assert.deepEqual(latency!.percentiles.at(-1), { percentile: 99.99, micros: 21_345 })
  assert.equal(latency!.isCorrected, true)
  assert.equal(latency!.count, 750)
  assert.equal(latency!.meanMicros, 1176)
  assert.equal(latency!.maxMicros, 21_345)
})

test('statuses other than 2xx are errors and leave no latency, for oha mixes them', () => {
  const text = JSON.stringify({ ...GOOD, statusCodeDistribution: { '200': 700, '301': 20, '503': 30 } })
  const { requests, errors, latency } = ohaResult(text, false)
  assert.equal(requests, 700)
  assert.equal(errors.status, 50)
  assert.equal(latency, null)
})

test('the messages of failed requests are sorted into classes', () => {
  const text = JSON.stringify({
    summary: { ...NO_LATENCY, total: 0.58 },
    latencyPercentiles: { p50: null },
    statusCodeDistribution: {},
    errorDistribution: {
      'Connection refused (os error 111)': 2234,
      timeout: 4,
      'connection closed before message completed': 3,
      'Connection reset by peer (os error 104)': 2,
      'something else': 1,
      'aborted due to deadline': 3,
    },
  })
  const { requests, errors, latency } = ohaResult(text, false)
  assert.equal(requests, 0)
  assert.deepEqual(errors, { connect: 2234, timeout: 4, reset: 5, status: 0, other: 1 })
  assert.equal(latency, null)
})
