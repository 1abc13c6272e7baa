import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EjectionPool } from './ejection.js'
import { TargetState } from './target-state.js'

const WINDOW = { windowMs: 10_000, minRequests: 2, failureRatio: 0.5, slowAfterMs: null }

test('an opened breaker and an ejected target report the figures of the decision', () => {
  const plans = {
    open: {
      breaker: { ...WINDOW, slowRatio: 1, openMs: 60_000, maxOpenMs: 60_000, probes: 1 },
      outlier: null,
    },
    ejected: {
      breaker: null,
      outlier: { ...WINDOW, consecutiveFailures: 9, ejectMs: 60_000, maxEjectMs: 60_000, maxEjected: 1 },
    },
  }
  for (const [condition, plan] of Object.entries(plans)) {
    const reported: (readonly [string, object])[] = []
    const pool = new EjectionPool(1)
    pool.setTargets(1)
    const state = new TargetState({
      ...plan,
      pool,
      onChange: (changed, figures) => reported.push([changed, figures]),
    })
    for (const isFailure of [false, true]) {
      const times = { beganMono: performance.now(), sentMono: performance.now() }
      state.begin(times)
      state.wait(times)
      state.settle(times, isFailure)
    }
    state.close()
    const figures = { requests: 2, failures: 1, slow: 0, waiting: 0 }
    const more = condition === 'ejected' ? { failuresInRow: 1 } : {}
    assert.deepEqual(reported, [[condition, { ...figures, ...more }]])
  }
})
