import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadResult } from '../model/engine.js'
import { NO_ERRORS } from '../model/summary.js'
import { coreLayout } from '../process/cores.js'
import { samplePoint } from '../testing/samples.js'
import { spreadOf } from './point.js'
import type { Repetition } from './repetition.js'
import { type UnjudgedPoint, type Validity, validityOf, voided } from './validity.js'

const RESULT: LoadResult = { requests: 100, seconds: 1, errors: NO_ERRORS, latency: null, busyShare: 0.5 }
const GOOD: Repetition = {
  ...{ result: RESULT, failure: null, cpuMicros: 1000, busyShare: 0.99, foreignShare: 0, rssBytes: 1 },
  ...{ diagnostics: [], upstreamWaits: null, kernelShare: 0.5, throttledShare: 0, loadAverage: 1 },
}
const POINT: UnjudgedPoint = {
  ...samplePoint(),
  ...{ perSecond: spreadOf([100, 101, 99]), ceilingPerSecond: 300, requests: 300, busyShare: 0.99 },
  generatorBusyShare: 0.5,
}

interface More {
  readonly isShared?: boolean
}

function validity(
  point: Partial<UnjudgedPoint>,
  repetition: Partial<Repetition> = {},
  { isShared = false }: More = {},
): Validity {
  const layout = { ...coreLayout(1, true, ['0', '1']), isShared }
  return validityOf({ ...POINT, ...point }, [{ ...GOOD, ...repetition }], layout)
}

function reasons(...parts: Parameters<typeof validity>): string {
  return validity(...parts).invalid.join('; ')
}

function warnings(...parts: Parameters<typeof validity>): string {
  return validity(...parts).warnings.join('; ')
}

function costReasons(...parts: Parameters<typeof validity>): string {
  return validity(...parts).costInvalid.join('; ')
}

test('a point without errors whose system was the bottleneck is a result', () => {
  assert.deepEqual(validity({}), { invalid: [], warnings: [], costInvalid: [] })
})

test('one request that failed makes a point no result, and its class is named', () => {
  assert.equal(
    reasons({ errors: { ...NO_ERRORS, status: 1, reset: 2 } }),
    '3 requests failed, 300 were completed: 2 reset, 1 status',
  )
})

test('a system that was not busy was not the bottleneck at saturation; at a rate it need not be', () => {
  assert.equal(warnings({ busyShare: 0.6 }), 'not gateway-bound: the system used 60 % of its cores')
  assert.equal(warnings({ busyShare: 0.6, kind: 'fixed-rate', targetPerSecond: 100 }), '')
})

test('a busy load generator, others on the cores and shared cores are warnings each', () => {
  assert.match(warnings({ generatorBusyShare: 0.8 }), /load generator was busy for 80 %/)
  assert.match(warnings({}, { foreignShare: 0.07 }), /other programs used 7\.0 % of the system's cores/)
  assert.match(warnings({}, {}, { isShared: true }), /share their cores/)
})

test('a load that could hardly have been larger is a warning, unless the system used its cores up', () => {
  const low = 'load generator and origin alone reach 140 requests/s, 1.4 times this throughput; at least'
  assert.match(
    warnings({ busyShare: 0.6, ceilingPerSecond: 140 }),
    new RegExp(`not gateway-bound.*${low} 3 times`),
  )
  assert.equal(warnings({ busyShare: 0.99, ceilingPerSecond: 140 }), '')
  const atRate = { kind: 'fixed-rate', targetPerSecond: 100 } as const
  assert.equal(warnings({ ...atRate, ceilingPerSecond: 140 }), `${low} 1.5 times is required`)
  assert.equal(warnings({ ...atRate, ceilingPerSecond: 160 }), '')
  assert.equal(warnings({ ...atRate, ceilingPerSecond: null }), '')
  for (const busyShare of [0.5, 1, null])
    assert.equal(warnings({ ...atRate, busyShare, ceilingPerSecond: 140 }), `${low} 1.5 times is required`)
  assert.match(warnings({ busyShare: null, ceilingPerSecond: 140 }), new RegExp(`^${low} 3 times`))
})

test('a rate that was not held is no result', () => {
  assert.equal(
    reasons({ kind: 'fixed-rate', targetPerSecond: 200 }),
    'the rate was not reached: 100 of 200 requests/s',
  )
})

test('a load generator that failed is the reason, and nothing else is checked without requests', () => {
  assert.equal(
    reasons({ requests: 0, busyShare: 0 }, { result: null, failure: 'out of files' }),
    'out of files; no request was completed',
  )
})

test('CPU time of a request is a result where load generator, origin or shared cores bounded the throughput', () => {
  const bounded: Parameters<typeof validity>[] = [
    [{ busyShare: 0.92 }],
    [{ busyShare: 0.92, ceilingPerSecond: 140 }],
    [{ generatorBusyShare: 0.9 }],
    [{ busyShare: 0.3 }, {}, { isShared: true }],
    [{ kind: 'fixed-rate', targetPerSecond: 200, busyShare: 0.2 }],
  ]
  for (const parts of bounded) {
    assert.notEqual(reasons(...parts) + warnings(...parts), '', JSON.stringify(parts))
    assert.equal(costReasons(...parts), '', JSON.stringify(parts))
  }
})

test('CPU time of a request is none where calls failed, or the load generator could not work', () => {
  const voids: Parameters<typeof validity>[] = [
    [{ errors: { ...NO_ERRORS, status: 1 } }],
    [{}, { failure: 'the traffic log did not settle' }],
    [{ requests: 0 }],
  ]
  for (const parts of voids) {
    const { invalid, costInvalid } = validity(...parts)
    assert.ok(costInvalid.length > 0)
    assert.deepEqual(invalid, costInvalid)
  }
})

test('a system that was less than half busy does not say what a request costs at saturation', () => {
  assert.equal(costReasons({ busyShare: 0.5 }), '')
  assert.match(costReasons({ busyShare: 0.49 }), /used 49 % of its cores; CPU time per request requires 50 %/)
  assert.notEqual(warnings({ busyShare: 0.49 }), '')
  assert.match(costReasons({}, { foreignShare: 0.07 }), /other programs used 7\.0 %/)
  assert.equal(costReasons({ busyShare: null }), '')
})

test('a point has a warning where the quota of CPU time was used up', () => {
  assert.match(warnings({}, { throttledShare: 0.02 }), /the CPU quota was used up in 2\.0 % of its periods/)
})

test('a reason that is found later voids CPU time as well', () => {
  const point = { ...samplePoint(), invalid: ['not gateway-bound'], costInvalid: [] }
  assert.deepEqual(voided(point, 'documents are missing').invalid, [
    'documents are missing',
    'not gateway-bound',
  ])
  assert.deepEqual(voided(point, 'documents are missing').costInvalid, ['documents are missing'])
})
