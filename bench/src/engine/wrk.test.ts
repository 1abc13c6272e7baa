import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latencyOf } from './wrk.js'
import type { WrkReport } from './wrk-script.js'

const NO_ERRORS = { connect: 0, read: 0, write: 0, status: 0, timeout: 0 }

/** Two connections, five requests each in 10,000 µs: wrk takes 2,000 µs for the interval of a connection. */
function report(values: WrkReport['values'], changes: Partial<WrkReport> = {}): WrkReport {
  const bytes = { receivedBytes: 0, requestBytes: 0 }
  return {
    durationMicros: 10_000,
    requests: 10,
    cpuMicros: 0,
    ...bytes,
    errors: NO_ERRORS,
    values,
    ...changes,
  }
}

test('the values that wrk adds for what a closed loop left out are taken back', () => {
  // 9,000 µs was measured once; wrk added 7,000, 5,000 and 3,000. 3,000 was measured twice itself.
  const latency = latencyOf(
    report([
      [1000, 7],
      [3000, 3],
      [5000, 1],
      [7000, 1],
      [9000, 1],
    ]),
    2,
  )!
  assert.equal(latency.count, 10)
  assert.equal(latency.isCorrected, false)
  assert.ok(Math.abs(latency.meanMicros - (7 * 1000 + 2 * 3000 + 9000) / 10) < 10)
})

test('values that add up as they are stay as they are', () => {
  const latency = latencyOf(
    report([
      [1000, 9],
      [9000, 1],
    ]),
    2,
  )!
  assert.equal(latency.count, 10)
})

test('timed-out requests have no value, and values that do not add up give no latency', () => {
  const timedOut = report([[1000, 8]], { errors: { ...NO_ERRORS, timeout: 2 } })
  assert.equal(latencyOf(timedOut, 2)!.count, 8)
  assert.equal(latencyOf(report([[1000, 8]]), 2), null)
  assert.equal(latencyOf(report(null), 2), null)
})
