import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadResult } from '../model/engine.js'
import type { CoreLayout } from './cores.js'
import type { Repetition } from './repetition.js'
import { spreadOf, variation } from './spread.js'
import { invalidReasons, logMismatch, type PointCase, spreadRemark } from './validity.js'

const NO_ERRORS = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
const APART: CoreLayout = {
  contestant: '0',
  load: '1',
  contestantCpus: ['0'],
  contestantCores: 1,
  loadCores: 1,
  isShared: false,
}
const RESULT: LoadResult = { requests: 100, seconds: 1, errors: NO_ERRORS, latency: null, busyShare: 0.5 }
const GOOD: Repetition = {
  result: RESULT,
  failure: null,
  cpuMicros: 1000,
  busyShare: 0.99,
  foreignShare: 0,
  rssBytes: 1,
  diagnostics: [],
}
const POINT: PointCase = {
  kind: 'saturation',
  targetPerSecond: null,
  perSecond: spreadOf([100, 101, 99]),
  ceilingPerSecond: 300,
  requests: 300,
  errors: NO_ERRORS,
  busyShare: 0.99,
}

function reasons(
  point: Partial<PointCase>,
  repetition: Partial<Repetition> = {},
  layout: Partial<CoreLayout> = {},
): string {
  return invalidReasons({ ...POINT, ...point }, [{ ...GOOD, ...repetition }], { ...APART, ...layout }).join(
    '; ',
  )
}

test('a point without errors whose contestant was the bottleneck is a result', () => {
  assert.equal(reasons({}), '')
})

test('one request that failed makes a point no result, and its class is named', () => {
  assert.equal(
    reasons({ errors: { ...NO_ERRORS, status: 1, reset: 2 } }),
    '3 requests failed beside 300 that were completed: 2 reset, 1 status',
  )
})

test('a highest rate may have fewer errors than one in a thousand', () => {
  const knee = { kind: 'fixed-rate', targetPerSecond: 100, sloMicros: 50_000, requests: 10_000 } as const
  assert.equal(reasons({ ...knee, errors: { ...NO_ERRORS, status: 9 } }), '')
  assert.match(reasons({ ...knee, errors: { ...NO_ERRORS, status: 11 } }), /^11 requests failed beside 10000/)
})

test('a contestant that was not busy was not the bottleneck at saturation; at a rate it need not be', () => {
  assert.equal(reasons({ busyShare: 0.6 }), 'not gateway-bound: the contestant used 60 % of its cores')
  assert.equal(reasons({ busyShare: 0.6, kind: 'fixed-rate', targetPerSecond: 100 }), '')
})

test('a busy load generator, others on the cores and shared cores are reasons each', () => {
  assert.match(reasons({}, { result: { ...RESULT, busyShare: 0.8 } }), /load generator was busy for 80 %/)
  assert.match(reasons({}, { foreignShare: 0.07 }), /other processes used 7\.0 % of the contestant's cores/)
  assert.match(reasons({}, {}, { isShared: true }), /share their cores/)
})

test('a load that could hardly have been larger is a reason, unless the contestant used its cores up', () => {
  const low = 'load generator and origin alone did 140 requests a second, 1.4 times as many; it takes'
  assert.match(
    reasons({ busyShare: 0.6, ceilingPerSecond: 140 }),
    new RegExp(`not gateway-bound.*${low} 3 times`),
  )
  assert.equal(reasons({ busyShare: 0.99, ceilingPerSecond: 140 }), '')
  const atRate = { kind: 'fixed-rate', targetPerSecond: 100 } as const
  assert.equal(reasons({ ...atRate, ceilingPerSecond: 140 }), `${low} 1.5 times`)
  assert.equal(reasons({ ...atRate, ceilingPerSecond: 160 }), '')
  assert.equal(reasons({ ...atRate, ceilingPerSecond: null }), '')
})

test('a rate that was not held is no result', () => {
  assert.equal(
    reasons({ kind: 'fixed-rate', targetPerSecond: 200 }),
    'the rate was not held: 100 of 200 requests a second',
  )
})

test('a load generator that failed is the reason, and nothing else is judged without requests', () => {
  assert.equal(
    reasons({ requests: 0, busyShare: 0 }, { result: null, failure: 'out of files' }),
    'out of files; no request was completed',
  )
  assert.deepEqual(invalidReasons({ ...POINT, requests: 0 }, [], APART), ['no repetition was made'])
})

test('repetitions that are far apart are told, and are a result', () => {
  assert.equal(spreadRemark(POINT), null)
  assert.match(spreadRemark({ ...POINT, perSecond: spreadOf([100, 120]) }) ?? '', /13 % apart/)
})

test('a traffic log adds up when every request is a document or counted', () => {
  assert.equal(logMismatch({ requests: 10, documents: 7, dropped: 2, dead: 1 }, 10), null)
  assert.match(
    logMismatch({ requests: 10, documents: 9, dropped: 0, dead: 0 }, 10) ?? '',
    /9 documents of 10/,
  )
  assert.match(logMismatch({ requests: 10, documents: 11, dropped: 0, dead: 0 }, 10) ?? '', /11 documents/)
  assert.match(logMismatch({ requests: 0, documents: 0, dropped: 0, dead: 0 }, 5) ?? '', /counted 0 requests/)
})

test('a spread is that of a sample', () => {
  const spread = spreadOf([2, 4, 4, 4, 5, 5, 7, 9])
  assert.equal(spread.mean, 5)
  assert.ok(Math.abs(spread.stdev - 2.138) < 0.001)
  assert.deepEqual([spread.min, spread.max], [2, 9])
  assert.ok(Math.abs(variation(spread) - 0.4276) < 0.001)
  assert.equal(spreadOf([5]).stdev, 0)
  assert.equal(variation(spreadOf([])), 0)
})
