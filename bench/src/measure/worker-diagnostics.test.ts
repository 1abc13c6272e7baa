import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lagMicros, upstreamWaits } from './worker-diagnostics.js'

const NAME = 'gw_worker_loop_delay_seconds_bucket'
const LABELS = 'worker="1"'

function histogram(counts: readonly number[]): ReadonlyMap<string, number> {
  const bounds = ['0.01', '0.02', '+Inf']
  const series = counts.map((count, i) => [`${NAME}{${LABELS},le="${bounds[i]}"}`, count] as const)
  return new Map([...series, [`${NAME}{worker="2",le="0.01"}`, 77]])
}

test('the delay is taken from what was counted between two looks, on a line between the bounds', () => {
  const before = histogram([1000, 1000, 1000])
  assert.equal(lagMicros(before, histogram([1100, 1100, 1100]), LABELS), 9900)
  assert.equal(lagMicros(before, histogram([1050, 1100, 1100]), LABELS), 19_800)
})

test('delays beyond the last bound are said to be at least as long', () => {
  assert.equal(lagMicros(histogram([0, 0, 0]), histogram([1, 1, 100]), LABELS), 20_000)
})

test('without a look at the loop there is no delay', () => {
  assert.equal(lagMicros(histogram([5, 5, 5]), histogram([5, 5, 5]), LABELS), 0)
  assert.equal(lagMicros(new Map(), new Map(), LABELS), 0)
})

test('waits for connections are those between two looks, of all upstreams, and unknown where nobody counts them', () => {
  const counts = (...waits: number[]) =>
    new Map(waits.map((count, i) => [`gw_upstream_waits_total{upstream="${i}"}`, count]))
  assert.equal(upstreamWaits(counts(5), counts(12, 3)), 10)
  assert.equal(upstreamWaits(counts(5, 3), counts(5, 3)), 0)
  assert.equal(upstreamWaits(new Map(), histogram([1, 1, 1])), null)
})
