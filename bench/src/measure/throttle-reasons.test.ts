import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Throttling } from '../model/summary.js'
import type { Repetition } from './repetition.js'
import { throttleReasons, throttleRemark } from './throttle-reasons.js'

function repetition(throttling?: Throttling | null): Repetition {
  const seen = { result: null, failure: null, cpuMicros: 0, busyShare: 0, foreignShare: 0, rssBytes: 0 }
  return { ...seen, diagnostics: [], ...(throttling === undefined ? {} : { throttling }) }
}

const times = (throttledPeriods: number): Throttling => ({ periods: 300, throttledPeriods })
const point = (throttledPeriods: number) => ({
  perRepetition: [{ p50Micros: 1, p99Micros: 2, rssBytes: 3, throttling: times(throttledPeriods) }],
})

test('a quota that was used up in a hundredth of its periods makes no result', () => {
  const reason = 'the CPU quota of the container was used up in 6 of 600 periods'
  assert.deepEqual(throttleReasons([repetition(times(6)), repetition(times(0))]), [reason])
  assert.equal(throttleRemark(point(3)), null, 'it is a reason then')
})

test('one that was used up more rarely is worth a remark', () => {
  assert.deepEqual(throttleReasons([repetition(times(5)), repetition(times(0))]), [])
  const remark = 'the CPU quota of the container was used up in 1 of 300 periods'
  assert.equal(throttleRemark(point(1)), remark)
})

test('without a quota, or where it was never used up, there is nothing to say', () => {
  assert.deepEqual(throttleReasons([repetition(), repetition(null), repetition(times(0))]), [])
  assert.deepEqual([throttleRemark({}), throttleRemark(point(0))], [null, null])
})
