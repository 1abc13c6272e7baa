import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleTrial } from '../testing/sample-trial.js'
import { timesOf } from './times.js'
import { invalidityOf } from './validity.js'

const { phases, targetPerSecond } = sampleTrial()
const COURSE = { phases, targetPerSecond, times: timesOf(10, 60), isCutShort: false }

test('a load that was held for all of the time is a result', () => {
  assert.deepEqual(invalidityOf(COURSE), [])
})

for (const [i, name] of (['before', 'during', 'after'] as const).entries())
  test(`a load that was not held ${name} what was done is none`, () => {
    const low = phases.map((phase, place) => (place === i ? { ...phase, sent: 10_000 } : phase))
    assert.deepEqual(invalidityOf({ ...COURSE, phases: low }), [
      `only 500 of 600 requests/s were sent ${name} it`,
    ])
  })

test('a load that ended before its time is none, and nothing more is said', () => {
  const short = phases.map((phase) => ({ ...phase, seconds: 4, sent: 0 }))
  assert.deepEqual(invalidityOf({ ...COURSE, phases: short, isCutShort: true }), [
    'it was stopped after 12 of 60 s',
  ])
})
