import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestartBudget } from './restart-budget.js'

function budget() {
  const clock = { ms: 5000 }
  return { clock, budget: new RestartBudget(() => clock.ms) }
}

const young = { ageMs: 20 }

test('the first death costs no wait, the following ones wait twice as long each, up to 30 s', () => {
  const { budget: seat } = budget()
  seat.becameReady()
  const delays: number[] = []
  for (let i = 0; i < 9; i++) {
    const verdict = seat.died(young)
    delays.push(verdict.kind === 'restart' ? verdict.delayMs : -1)
  }
  assert.deepEqual(delays, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('five young deaths within a minute and never a ready worker are a crash loop', () => {
  const { budget: seat, clock } = budget()
  for (let i = 0; i < 4; i++) {
    assert.equal(seat.died(young).kind, 'restart')
    clock.ms += 5000
  }
  assert.deepEqual(seat.died(young), { kind: 'stop', deaths: 5 })
})

test('deaths that are spread over more than a minute are no crash loop', () => {
  const { budget: seat, clock } = budget()
  for (let i = 0; i < 20; i++) {
    assert.equal(seat.died(young).kind, 'restart')
    clock.ms += 15_000
  }
})

test('a seat that was ready once is restarted for ever', () => {
  const { budget: seat } = budget()
  seat.becameReady()
  for (let i = 0; i < 50; i++) assert.equal(seat.died(young).kind, 'restart')
})

test('a worker that lived ten seconds begins a new count', () => {
  const { budget: seat } = budget()
  seat.becameReady()
  seat.died(young)
  seat.died(young)
  assert.deepEqual(seat.died({ ageMs: 10_000 }), { kind: 'restart', delayMs: 0 })
})
