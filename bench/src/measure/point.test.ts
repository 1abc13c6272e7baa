import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pointOf } from './point.js'
import type { Repetition } from './repetition.js'
import { mergedSpectrum } from './testing/small-load.js'
import { PLAIN } from './testing/small-suite.js'

const SUBJECT = {
  ...{ suite: 'small', scenario: PLAIN, contestant: 'sluice', connections: 2, engine: 'autocannon' },
  ...{ ceilingPerSecond: null, targetPerSecond: null, sloMicros: null, baseFlaw: null },
  layout: { contestant: null, contestantCpus: [], load: null, origin: null, isShared: false },
} as unknown as Parameters<typeof pointOf>[0]

const REPETITION: Repetition = {
  result: {
    ...{ requests: 300, seconds: 3, latency: null, busyShare: 0.1 },
    errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
    leadIn: { requests: 100, seconds: 1 },
  },
  ...{ failure: null, cpuMicros: 4000, busyShare: 1, foreignShare: 0, rssBytes: 0, diagnostics: [] },
}

test('CPU time is shared by all requests that it was used for, throughput is that of the measured time', () => {
  const point = pointOf(SUBJECT, [REPETITION], mergedSpectrum)
  assert.equal(point.cpuMicrosPerRequest.mean, 10)
  assert.equal(point.perSecond.mean, 100)
  assert.equal(point.requests, 300)
})
