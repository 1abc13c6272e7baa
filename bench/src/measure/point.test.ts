import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_ERRORS } from '../model/summary.js'
import { coreLayout } from '../process/cores.js'
import { PLAIN } from '../testing/small-suite.js'
import { pointOf, spreadOf } from './point.js'
import type { Repetition } from './repetition.js'

const SUBJECT = {
  ...{ suite: 'small', scenario: PLAIN, system: 'sluice', connections: 2, engine: 'autocannon' },
  ...{ ceilingPerSecond: null, targetPerSecond: null, memoryLimitBytes: null, layout: coreLayout(1, false) },
}

const REPETITION: Repetition = {
  result: {
    ...{ requests: 300, seconds: 3, latency: null, busyShare: 0.1, errors: NO_ERRORS },
    leadIn: { requests: 100, seconds: 1 },
  },
  ...{ failure: null, cpuMicros: 4000, busyShare: 1, foreignShare: 0, rssBytes: 0, diagnostics: [] },
  ...{ upstreamWaits: null, kernelShare: 0.5, loadAverage: 1, throttledShare: 0 },
}

test('CPU time is shared by all requests that it was used for, throughput is that of the measured time', () => {
  const point = pointOf(SUBJECT, [REPETITION])
  assert.equal(point.cpuMicrosPerRequest!.mean, 10)
  assert.equal(point.perSecond.mean, 100)
  assert.equal(point.requests, 300)
})

test('a spread is that of a sample', () => {
  const spread = spreadOf([2, 4, 4, 4, 5, 5, 7, 9])
  assert.equal(spread.mean, 5)
  assert.ok(Math.abs(spread.stdev - 2.138) < 0.001)
  assert.deepEqual([spread.min, spread.max], [2, 9])
  assert.equal(spreadOf([5]).stdev, 0)
})
