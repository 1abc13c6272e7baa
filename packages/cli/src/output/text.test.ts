import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageText, countText, durationText, shortDigest } from './text.js'

test('ages are written in their two largest units', () => {
  const times = [900, 59_999, 61_000, 3_600_000, 47 * 3_600_000, 49 * 3_600_000]
  assert.deepEqual(times.map(ageText), ['0s', '59s', '1m 1s', '1h 0m', '47h 0m', '2d 1h'])
})

test('settings are written as a document would write them', () => {
  assert.deepEqual([0, 250, 1000, 1500, 60_000, 90_000].map(durationText), [
    'none',
    '250ms',
    '1s',
    '1.5s',
    '1m',
    '90s',
  ])
})

test('counts have the right plural, and a missing digest is a dash', () => {
  assert.deepEqual([countText(1, 'route'), countText(0, 'route')], ['1 route', '0 routes'])
  assert.deepEqual([shortDigest('0123456789abcdef'), shortDigest(null)], ['0123456789ab', '-'])
})
