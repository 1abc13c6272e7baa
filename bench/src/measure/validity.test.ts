import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadResult } from '../model/engine.js'
import { samplePoint } from '../testing/sample-summary.js'
import type { CoreLayout } from './cores.js'
import { baseFlaw, withoutErrors } from './rate-base.js'
import type { Repetition } from './repetition.js'
import { spreadOf, variation } from './spread.js'
import {
  generatorBusyShare,
  logMismatch,
  type PointCase,
  type Verdict,
  verdictOf,
  voided,
} from './validity.js'

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
  baseFlaw: null,
}

function verdict(
  point: Partial<PointCase>,
  repetition: Partial<Repetition> = {},
  layout: Partial<CoreLayout> = {},
): Verdict {
  return verdictOf({ ...POINT, ...point }, [{ ...GOOD, ...repetition }], { ...APART, ...layout })
}

function reasons(...parts: Parameters<typeof verdict>): string {
  return verdict(...parts).invalid.join('; ')
}

function costReasons(...parts: Parameters<typeof verdict>): string {
  return verdict(...parts).costInvalid.join('; ')
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
  for (const busyShare of [0.5, 1, Number.NaN])
    assert.equal(reasons({ ...atRate, busyShare, ceilingPerSecond: 140 }), `${low} 1.5 times`)
  assert.equal(reasons({ busyShare: Number.NaN, ceilingPerSecond: 140 }), '')
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
  const nothing = ['no repetition was made']
  const none = verdictOf({ ...POINT, requests: 0 }, [], APART)
  assert.deepEqual(none, { invalid: nothing, costInvalid: nothing })
})

test('CPU time of a request is a result where load generator, origin or shared cores bounded the throughput', () => {
  const bounded: Parameters<typeof verdict>[] = [
    [{ busyShare: 0.92 }],
    [{ busyShare: 0.92, ceilingPerSecond: 140 }],
    [{}, { result: { ...RESULT, busyShare: 0.9 } }],
    [{ busyShare: 0.3 }, {}, { isShared: true }],
    [{ kind: 'fixed-rate', targetPerSecond: 200, busyShare: 0.2 }],
    [{ kind: 'fixed-rate', targetPerSecond: 100, baseFlaw: 'its saturation is no result' }],
  ]
  for (const parts of bounded) {
    assert.notEqual(reasons(...parts), '', JSON.stringify(parts))
    assert.equal(costReasons(...parts), '', JSON.stringify(parts))
  }
})

test('CPU time of a request is none where calls failed, others used the cores, or the load generator could not work', () => {
  const voids: Parameters<typeof verdict>[] = [
    [{ errors: { ...NO_ERRORS, status: 1 } }],
    [{}, { foreignShare: 0.07 }],
    [{}, { failure: 'the traffic log did not settle' }],
    [{ requests: 0 }],
  ]
  for (const parts of voids) {
    const { invalid, costInvalid } = verdict(...parts)
    assert.ok(costInvalid.length > 0)
    assert.deepEqual(invalid, costInvalid)
  }
})

test('a contestant that was less than half busy does not tell what a request costs at saturation', () => {
  assert.equal(costReasons({ busyShare: 0.5 }), '')
  assert.match(costReasons({ busyShare: 0.49 }), /used 49 % of its cores; CPU time of a request takes 50 %/)
  assert.notEqual(reasons({ busyShare: 0.49 }), '')
  assert.equal(costReasons({ busyShare: Number.NaN }), '')
})

test('a rate whose saturation is no result is none, and without errors it is measured all the same', () => {
  const saturation = { ...samplePoint(), invalid: ['not gateway-bound'] }
  const flaw = baseFlaw(saturation)
  assert.equal(flaw, 'its saturation is no result, so that this rate is no share of it')
  assert.equal(reasons({ kind: 'fixed-rate', targetPerSecond: 100, baseFlaw: flaw }), flaw)
  assert.equal(baseFlaw(samplePoint()), null)
  assert.equal(baseFlaw(undefined), null)
  assert.equal(withoutErrors(saturation), saturation)
  assert.equal(withoutErrors({ ...saturation, errors: { ...NO_ERRORS, status: 1 } }), null)
})

test('a reason that is found later voids CPU time as well', () => {
  const point = { ...samplePoint(), invalid: ['not gateway-bound'], costInvalid: [] }
  assert.deepEqual(voided(point, 'documents are missing').invalid, [
    'documents are missing',
    'not gateway-bound',
  ])
  assert.deepEqual(voided(point, 'documents are missing').costInvalid, ['documents are missing'])
})

test('how busy the load generator was is that of its busiest repetition, and unknown where one is', () => {
  const busy = (share: number): Repetition => ({ ...GOOD, result: { ...RESULT, busyShare: share } })
  assert.equal(generatorBusyShare([busy(0.3), busy(0.7), { ...GOOD, result: null }]), 0.7)
  assert.equal(generatorBusyShare([busy(0.3), busy(Number.NaN)]), null)
  assert.equal(generatorBusyShare([]), null)
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
