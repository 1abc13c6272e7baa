import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '@sluice/core'
import { EMPTY_CHAIN } from './chain.js'
import { CpuBudget } from './cpu-budget.js'
import type { Hook } from './hook.js'

const X = {} as Exchange

test('policies of all phases use the budget, which refills over time up to its maximum', (t) => {
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  const run = (): null => {
    now += 60
    return null
  }
  const hook: Hook = { name: 'busy', order: 0, phase: 'request', run }
  const budget = new CpuBudget(200)
  const hooks = [hook]
  const response = { response: hooks, responseBody: hooks }
  const chain = budget.measure({
    ...EMPTY_CHAIN,
    request: hooks,
    requestBody: hooks,
    attempt: hooks,
    ...response,
    layers: { inner: response, outer: response },
  })
  const { inner, outer } = chain.layers!
  const phases = [chain.request, chain.requestBody, chain.attempt, chain.response, chain.responseBody]
  for (const phase of [...phases, inner.response, inner.responseBody, outer.response, outer.responseBody]) {
    now += 10_000
    assert.equal(budget.isSpent(now), false)
    const at = now
    for (let i = 0; i < 4; i++) phase![0]!.run(X)
    assert.equal(budget.isSpent(at), true)
    // 240 of 200 ms were used.
    assert.equal(budget.isSpent(at + 190), true)
    assert.equal(budget.isSpent(at + 210), false)
  }
})

test('a hook that fails uses the budget too', (t) => {
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  const budget = new CpuBudget(50)
  const run = (): never => {
    now += 60
    throw new Error('no')
  }
  const chain = budget.measure({ ...EMPTY_CHAIN, request: [{ name: 'a', order: 0, phase: 'request', run }] })
  assert.equal(budget.isSpent(now), false)
  assert.throws(() => chain.request![0]!.run(X), /no/)
  assert.equal(budget.isSpent(1000), true)
})
