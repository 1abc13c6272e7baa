import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ejection, EjectionPool } from './ejection.js'

const PLAN = {
  windowMs: 1000,
  minRequests: 1,
  failureRatio: 1,
  slowAfterMs: null,
  consecutiveFailures: 1,
  ejectMs: 3_600_000,
  maxEjectMs: 3_600_000,
  maxEjected: 0.5,
}

/** A target that has failed. */
function failed(pool: EjectionPool): Ejection {
  const ejection = new Ejection(PLAN, pool, () => {})
  ejection.settle({ beganMono: 1, sentMono: 1 }, 2, true)
  return ejection
}

test('an address that is removed while ejected returns its place in the pool', () => {
  const pool = new EjectionPool(PLAN.maxEjected)
  pool.setTargets(2)
  for (let i = 0; i < 10; i++) {
    const ejection = failed(pool)
    assert.equal(ejection.isEjected, true)
    const refused = failed(pool)
    assert.equal(refused.isEjected, false)
    refused.close()
    ejection.close()
  }
})
