import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestartBudget } from './restart-budget.js'

function budget() {
  const clock = { ms: 5000 }
  return { clock, budget: new RestartBudget(() => clock.ms) }
}

const young = { ageMs: 20 }

function delaysOf(slot: RestartBudget, deaths: number, ageMs: number): number[] {
  return Array.from({ length: deaths }, () => {
    const verdict = slot.died({ ageMs })
    return verdict.kind === 'restart' ? verdict.delayMs : -1
  })
}

test('a slot that never served restarts at once the first time, then with doubling delays', () => {
  assert.deepEqual(delaysOf(budget().budget, 5, 0), [0, 500, 1000, 2000, -1])
})

test('a slot that served restarts at once five times a minute, then with delays up to 5 s', () => {
  const { budget: slot } = budget()
  slot.becameReady()
  assert.deepEqual(delaysOf(slot, 10, 0), [0, 0, 0, 0, 0, 500, 1000, 2000, 4000, 5000])
})

test('the lifetime of a worker counts towards the delay', () => {
  const { budget: slot } = budget()
  slot.becameReady()
  assert.deepEqual(delaysOf(slot, 9, 1500), [0, 0, 0, 0, 0, 0, 0, 500, 2500])
})

test('five deaths without a ready worker are a crash loop, however slow the machine', () => {
  for (const ageMs of [20, 60_000]) {
    const { budget: slot, clock } = budget()
    for (let i = 0; i < 4; i++) {
      clock.ms += ageMs
      assert.equal(slot.died({ ageMs }).kind, 'restart')
    }
    assert.deepEqual(slot.died({ ageMs }), { kind: 'stop', deaths: 5 })
  }
})

test('a slot that was ready once is restarted for ever', () => {
  const { budget: slot } = budget()
  slot.becameReady()
  for (let i = 0; i < 50; i++) assert.equal(slot.died(young).kind, 'restart')
})

test('a worker that lived ten seconds resets the count', () => {
  const { budget: slot } = budget()
  slot.becameReady()
  slot.died(young)
  slot.died(young)
  assert.deepEqual(slot.died({ ageMs: 10_000 }), { kind: 'restart', delayMs: 0 })
})
