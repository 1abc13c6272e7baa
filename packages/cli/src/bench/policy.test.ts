import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Point, policyPair } from '@sluice/bench'
import { catalog } from '@sluice/policies'
import { costSentence } from './policy.js'
import { samplePoint, sampleSummary, spread } from './testing/sample-summary.js'

const PAIR = policyPair('header', catalog)!

function sentence(base: Partial<Point>, withPolicy: Partial<Point>): string {
  const points = [
    samplePoint({ scenario: 'base-get', ...base }),
    samplePoint({ scenario: 'header-get', ...withPolicy }),
  ]
  return costSentence('header', PAIR, sampleSummary(points))
}

test('a cost above the spread of the repetitions is told in microseconds and percent', () => {
  assert.equal(
    sentence({ cpuMicrosPerRequest: spread(20, 0.1) }, { cpuMicrosPerRequest: spread(21, 0.2) }),
    'header: +1.00 µs (+5.0 %) of CPU time a request, on 20.0 µs without it; the repetitions spread by 0.30 µs',
  )
})

test('a cost within the spread is called too small to tell', () => {
  const text = sentence({ cpuMicrosPerRequest: spread(20, 1) }, { cpuMicrosPerRequest: spread(19.5, 1) })
  assert.match(text, /^header: -0\.50 µs \(-2\.5 %\) .* within the spread of the repetitions \(2\.00 µs\), /)
})

test('no cost is told from a point that is no result, of another kind, or of a peer', () => {
  for (const other of [
    { invalid: ['a status that is not 2xx'] },
    { kind: 'fixed-rate' },
    { contestant: 'nginx' },
  ] as const) {
    assert.match(sentence({}, other), /^header: no cost can be told, /)
    assert.match(sentence(other, {}), /^header: no cost can be told, /)
  }
})

test('a cost is told of points whose CPU time alone is a result, where the gateway was busy alike', () => {
  const bounded = { invalid: ['not gateway-bound'], costInvalid: [], busyShare: 0.9 }
  assert.match(sentence(bounded, {}), /^header: \+0\.00 µs .* on 20\.0 µs without it at 90 %; /)
  assert.match(
    sentence({ ...bounded, busyShare: 0.6 }, {}),
    /^header: no cost can be told, because the gateway used 60 % of its cores without it and 99 % with it, .*--saturation-engine wrk$/,
  )
})
