import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Estimate, fitScalability } from './scalability.js'
import { seededRandom } from './statistics.js'

const TRUE = { cost: 40, sigma: 0.05, kappa: 0.004 }

function trueCost(n: number, { cost, sigma, kappa } = TRUE): number {
  return cost * (1 + sigma * (n - 1) + kappa * n * (n - 1))
}

/** Rounds of known parameters. The speed of the machine differs between rounds, and each value by up to `noise`. */
function roundsOf(counts: readonly number[], noise: number, parameters = TRUE): Map<number, number>[] {
  const random = seededRandom('rounds')
  return Array.from({ length: 40 }, () => {
    const speed = 0.8 + 0.4 * random()
    const value = (n: number): number => trueCost(n, parameters) * speed * (1 + noise * (random() - 0.5))
    return new Map(counts.map((n) => [n, value(n)]))
  })
}

function contains({ low, high }: Estimate, value: number): void {
  assert.ok(low <= value && value <= high, `${value} is not within ${low} and ${high}`)
}

test('with three numbers of workers the fit recovers both parameters, whatever the speed of the machine', () => {
  const fit = fitScalability(roundsOf([1, 2, 4], 0.02), 'seed')!
  assert.equal(fit.isKappaAssumed, false)
  contains(fit.sigma, TRUE.sigma)
  contains(fit.kappa, TRUE.kappa)
  contains(fit.costAt(8), trueCost(8))
  assert.ok(fit.costAt(8).high / fit.costAt(8).low < 1.25, 'the interval is narrow')
})

test('without noise the parameters are exact', () => {
  const { sigma, kappa } = fitScalability(roundsOf([1, 2, 4, 8], 0), 'seed')!
  assert.ok(Math.abs(sigma.middle - TRUE.sigma) < 1e-9)
  assert.ok(Math.abs(kappa.middle - TRUE.kappa) < 1e-9)
})

test('with two numbers kappa is assumed, and the interval covers pure contention and pure coherency', () => {
  const fit = fitScalability(roundsOf([1, 2], 0.01), 'seed')!
  assert.equal(fit.isKappaAssumed, true)
  const loss = trueCost(2) / trueCost(1) - 1
  contains(fit.kappa, TRUE.kappa)
  assert.ok(fit.kappa.low < loss * 0.03 && fit.kappa.high > loss * 0.47, JSON.stringify(fit.kappa))
  contains(fit.costAt(8), trueCost(8))
  // More of the loss is coherency further away, so the interval widens.
  const width = (n: number): number => fit.costAt(n).high / fit.costAt(n).low
  assert.ok(width(8) > width(4) && width(4) > width(2))
})

test('a gain from more workers is not extrapolated: the prediction is linear at best', () => {
  const { sigma, kappa, costAt } = fitScalability(
    roundsOf([1, 2], 0, { cost: 40, sigma: -0.1, kappa: 0 }),
    's',
  )!
  assert.deepEqual([sigma.high, kappa.high], [0, 0])
  assert.equal(costAt(8).middle, costAt(1).middle)
})

test('a negative parameter of the free fit is replaced by 0, and the other one is fitted again', () => {
  const coherent = fitScalability(roundsOf([1, 2, 4], 0, { cost: 40, sigma: -0.02, kappa: 0.05 }), 's')!
  assert.equal(coherent.sigma.middle, 0)
  assert.ok(coherent.kappa.middle > 0.03 && coherent.kappa.middle < 0.05)
})

test('there is no fit with fewer than three rounds or one number of workers', () => {
  assert.equal(fitScalability(roundsOf([1, 2], 0).slice(0, 2), 's'), null)
  assert.equal(fitScalability(roundsOf([1], 0), 's'), null)
  assert.equal(fitScalability([], 's'), null)
})
