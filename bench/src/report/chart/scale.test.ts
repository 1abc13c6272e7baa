import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaleFor } from './scale.js'

test('a linear axis begins at zero and ends at a round number', () => {
  const scale = scaleFor('linear', [3, 17_657])
  assert.deepEqual(scale.ticks, [0, 5000, 10_000, 15_000, 20_000])
  assert.equal(scale.place(0), 0)
  assert.equal(scale.place(20_000), 1)
})

test('an axis of small, large, equal or no values still has ticks', () => {
  for (const kind of ['linear', 'log', 'percentile'] as const)
    for (const values of [[], [0], [50], [0.003], [1, 1], [5e9, 7e9]]) {
      const { ticks, place } = scaleFor(kind, kind === 'percentile' ? [50] : values)
      assert.ok(ticks.length > 0 && ticks.every((tick) => Number.isFinite(place(tick))), `${kind} ${values}`)
    }
})

test('a logarithmic axis holds all values between its ends', () => {
  const { ticks, place } = scaleFor('log', [730, 48_000])
  assert.deepEqual(ticks, [500, 1000, 2000, 5000, 10_000, 20_000, 50_000])
  assert.ok(place(730) > 0 && place(48_000) < 1)
})

test('nines are equally far from each other', () => {
  const { place } = scaleFor('percentile', [50, 99.99])
  const step = place(99) - place(90)
  assert.ok(Math.abs(place(99.9) - place(99) - step) < 1e-9)
  assert.ok(Math.abs(place(99.99) - place(99.9) - step) < 1e-9)
})
