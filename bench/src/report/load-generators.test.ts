import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/spread.js'
import { samplePoint, sampleSpectrum, sampleSummary } from '../testing/sample-summary.js'
import { enginesText, percentilesText } from './load-generators.js'

const exact = samplePoint({ engine: 'wrk', latency: sampleSpectrum(100, { hdr: 'values' }) })
const largest = samplePoint({ engine: 'oha' })

test('a report says where the percentiles of this run come from', () => {
  const text = (...points: Parameters<typeof sampleSummary>[0]): string =>
    percentilesText(sampleSummary(points))
  assert.equal(
    text(exact),
    'Percentiles of wrk come from merged histograms. None is an average of percentiles.',
  )
  assert.match(
    text(exact, largest),
    /^Percentiles of wrk come .* Of oha, without a histogram, .* the largest of theirs/,
  )
  assert.doesNotMatch(text(largest), /merged histograms/)
  const once = { ...largest, perSecond: spreadOf([100]) }
  assert.match(text(once), /^Those of oha with one repetition are as it told them\. /)
  assert.equal(text({ ...exact, latency: null }), '')
  const { engine: _, ...older } = largest
  assert.match(text(older), /^Of wrk, without a histogram/)
})

test('both load generators of a run are named with what they were for', () => {
  assert.equal(enginesText(sampleSummary([])), 'wrk')
  const both = sampleSummary([], { engine: 'oha', saturationEngine: 'wrk' })
  assert.equal(enginesText(both), 'wrk at saturation, oha at rates')
})
