import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suiteOf } from '@sluice/bench'
import { runSize, trialsText } from './estimate.js'

const TIMES = {
  warmUpSeconds: 10,
  seconds: 20,
  repetitions: 3,
  rates: 4,
  hasKnee: false,
  peers: 0,
  coolDownSeconds: 0,
  engines: 1,
}

function secondsOf(changes: Partial<typeof TIMES>): number {
  return runSize(suiteOf('smoke'), { ...TIMES, ...changes }).seconds
}

test('a run takes a warm-up, the loads of all repetitions and a quarter of one for the ceiling, for each point', () => {
  assert.equal(secondsOf({}), 2 * (10 + 3 * 5 * 20 + 5.5))
  assert.equal(secondsOf({ rates: 0 }), 2 * (10 + 3 * 20 + 5.5))
})

test('the ceiling of a short point takes a second', () => {
  assert.equal(secondsOf({ seconds: 1, rates: 0 }), 2 * (10 + 3 * 1 + 1.5))
  assert.equal(secondsOf({ seconds: 3, rates: 0 }), 2 * (10 + 3 * 3 + 1.5))
})

test('with two load generators the ceiling is measured with each, unless there are no rates', () => {
  assert.equal(secondsOf({ engines: 2 }) - secondsOf({}), 2 * 5.5)
  assert.equal(secondsOf({ engines: 2, rates: 0 }), secondsOf({ rates: 0 }))
})

test('a search for the highest rate takes six loads more, whatever the repetitions', () => {
  assert.equal(secondsOf({ hasKnee: true }) - secondsOf({}), 2 * 6 * 20)
})

test('a rest is made behind the points of each number of connections and rate', () => {
  assert.equal(secondsOf({ coolDownSeconds: 3 }) - secondsOf({}), 2 * 5 * 3)
})

test('peers are measured like the gateway, below the same ceiling', () => {
  assert.equal(secondsOf({ peers: 2, rates: 0 }), 2 * (3 * (10 + 3 * 20) + 5.5))
})

test('a trial takes its warm-up and its length', () => {
  const times = { ...TIMES, warmUpSeconds: 10, seconds: 60 }
  assert.deepEqual(runSize(suiteOf('chaos'), times), { scenarios: 8, points: 0, seconds: 8 * 70 })
  assert.equal(trialsText(suiteOf('chaos'), times), 'chaos: 8 trials, about 9m 20s of load')
})
