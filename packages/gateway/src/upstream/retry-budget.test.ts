import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryBudget } from './retry-budget.js'

function spent(budget: RetryBudget): number {
  let count = 0
  while (budget.spend()) count++
  return count
}

test('an upstream without traffic has ten retries in reserve, and they do not come back by themselves', () => {
  const budget = new RetryBudget(0.2)
  assert.equal(spent(budget), 10)
  assert.equal(spent(budget), 0)
})

test('beyond the reserve retries are the given share of the requests', () => {
  const budget = new RetryBudget(0.25)
  spent(budget)
  for (let i = 0; i < 100; i++) budget.earn()
  assert.equal(spent(budget), 25)
})

test('a long quiet time does not accumulate retries without limit', () => {
  const budget = new RetryBudget(1)
  for (let i = 0; i < 100_000; i++) budget.earn()
  assert.ok(spent(budget) <= 1001)
})

test('a budget of zero allows no retry, not even from the reserve', () => {
  const budget = new RetryBudget(0)
  for (let i = 0; i < 1000; i++) budget.earn()
  assert.equal(spent(budget), 0)
})

test('while every request fails, retries stay within their share', () => {
  const budget = new RetryBudget(0.2)
  let retries = 0
  for (let i = 0; i < 10_000; i++) {
    budget.earn()
    if (budget.spend()) retries++
  }
  assert.ok(retries <= 2010 && retries >= 1990, `${retries} retries for 10,000 requests`)
})
