import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLimits } from './limit.js'

test('limits are read with their metric, direction and change', () => {
  assert.deepEqual(parseLimits('rps<-5% or p99>+10%'), [
    { metric: 'rps', direction: '<', change: -0.05, text: 'rps<-5%' },
    { metric: 'p99', direction: '>', change: 0.1, text: 'p99>+10%' },
  ])
  assert.deepEqual(parseLimits('  cpu > 2.5%  '), [
    { metric: 'cpu', direction: '>', change: 0.025, text: 'cpu>2.5%' },
  ])
})

const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ['', /limits are empty/],
  ['speed<-5%', /column 1: expected one of rps, cpu, p50, p99, rss, found "speed"/],
  ['rps<-5% and p99>+10%', /column 9: expected "or", found "and"/],
  ['rps<-5% or', /column 9: expected a limit behind "or"/],
  ['rps', /column 4: expected "<" or ">" behind rps/],
  ['rps<=-5%', /column 4: expected "<" or ">" behind rps/],
  ['rps<', /column 5: expected a change in percent/],
  ['rps<-5', /column 5: expected a change in percent/],
  ['rps<-5% or p99>ten%', /column 16: expected a change in percent/],
  ['rps < -5% or foo > 1%', /column 14: expected one of/],
]

for (const [expression, message] of MISTAKES)
  test(`the limits "${expression}" are refused with the place of the mistake`, () => {
    assert.throws(() => parseLimits(expression), message)
  })
