import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { IsoClock, millisText } from './iso-clock.js'

test('an instant is written as Date writes it, in whatever order instants come', () => {
  const clock = new IsoClock()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (instant) => {
      assert.equal(clock.text(instant), new Date(instant).toISOString())
      assert.equal(clock.text(instant + 0.7), new Date(instant).toISOString())
    }),
  )
})

test('an invalid instant becomes the epoch', () => {
  for (const instant of [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e18]) {
    assert.equal(new IsoClock().text(instant), '1970-01-01T00:00:00.000Z')
  }
})

test('a duration is written in ms with microseconds', () => {
  assert.deepEqual([0, 1, 1.5, 0.001, 12.34567, 2000.01, 0.0001].map(millisText), [
    '0',
    '1',
    '1.5',
    '0.001',
    '12.346',
    '2000.01',
    '0',
  ])
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (duration) => {
      assert.equal(Number(millisText(duration)), Math.round(duration * 1000) / 1000)
    }),
  )
})

test('an invalid duration becomes zero', () => {
  for (const duration of [Number.NaN, -3, Number.POSITIVE_INFINITY]) assert.equal(millisText(duration), '0')
})
