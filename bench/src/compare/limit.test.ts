import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLimits } from './changes.js'

test('limits are read with their metric, direction and change', () => {
  assert.deepEqual(parseLimits('rps<-5% or p99>+10%'), [
    { metric: 'rps', direction: '<', change: -0.05, text: 'rps<-5%' },
    { metric: 'p99', direction: '>', change: 0.1, text: 'p99>+10%' },
  ])
  assert.deepEqual(parseLimits('  cpu > 2.5%  '), [
    { metric: 'cpu', direction: '>', change: 0.025, text: 'cpu > 2.5%' },
  ])
})

for (const expression of [
  '',
  'speed<-5%',
  'rps<-5% and p99>+10%',
  'rps<-5% or',
  'rps<=-5%',
  'rps<',
  'rps<-5',
])
  test(`the limits "${expression}" are refused with an example`, () => {
    assert.throws(
      () => parseLimits(expression),
      /is not a limit; use one of .*, such as "rps<-5% or p99>\+10%"/,
    )
  })
