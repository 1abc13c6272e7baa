import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point } from '../model/summary.js'
import { samplePoint } from '../testing/sample-summary.js'
import { spreadOf } from './spread.js'
import { spreadRemark, steadierOf, unsteadiness } from './steadiness.js'

const STEADY = spreadOf([100, 101, 99])
const APART = spreadOf([100, 120])

function point(changes: Partial<Point>): Point {
  return samplePoint({ perSecond: STEADY, cpuMicrosPerRequest: STEADY, costInvalid: [], ...changes })
}

test('repetitions that are far apart are told, and are a result', () => {
  assert.equal(spreadRemark(point({ cpuMicrosPerRequest: APART })), null)
  assert.equal(
    spreadRemark(point({ perSecond: APART })),
    'the repetitions are 13 % apart (coefficient of variation)',
  )
})

test('of a point whose CPU time alone is a result that figure is looked at', () => {
  const bounded = { perSecond: APART, invalid: ['not gateway-bound'] }
  assert.equal(spreadRemark(point(bounded)), null)
  assert.match(
    spreadRemark(point({ ...bounded, cpuMicrosPerRequest: APART })) ?? '',
    /13 % apart in CPU time/,
  )
  assert.equal(unsteadiness(point({ ...bounded, costInvalid: ['errors'] })), 0)
  assert.equal(unsteadiness({ ...point(bounded), costInvalid: ['errors'] }), 0)
})

test('of two measurements the one that is a result of more counts, and of equals the steadier', () => {
  const [first, steadier] = [point({ perSecond: APART }), point({})]
  assert.equal(steadierOf(first, steadier), steadier)
  assert.equal(steadierOf(steadier, first), steadier)
  const bounded = point({ invalid: ['not gateway-bound'] })
  assert.equal(steadierOf(first, bounded), first)
  assert.equal(steadierOf(bounded, first), first)
  const broken = point({ invalid: ['errors'], costInvalid: ['errors'] })
  assert.equal(steadierOf(bounded, broken), bounded)
})
