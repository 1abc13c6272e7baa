import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthPlan } from '@sluice/config'
import { CheckedTarget } from './checked-target.js'

const PLAN: HealthPlan = {
  path: '/healthz',
  intervalMs: 1000,
  jitter: 0,
  timeoutMs: 1000,
  unhealthyAfter: 3,
  healthyAfter: 2,
  statuses: [[200, 299]],
  body: null,
  bodyPattern: null,
  host: null,
  headers: [],
}

/** Waits until the result of a finished check has been handled. */
const heard = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a recovered target is back a tenth of an interval after the first passing check', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let problem: string | null = 'unexpected status 500'
  let changes = 0
  const target = new CheckedTarget(
    PLAN,
    async () => problem,
    () => changes++,
  )
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms)
    await heard()
  }
  for (const ms of [0, 1000, 1000]) await pass(ms)
  assert.deepEqual([target.health, changes], ['unhealthy', 1])
  problem = null
  // The target recovers at the worst moment: just after a check.
  await pass(1000)
  assert.equal(target.health, 'unhealthy')
  await pass(100)
  assert.deepEqual([target.health, changes], ['healthy', 2])
  target.stop()
})

test('many targets are all checked, a hundred at a time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ends: (() => void)[] = []
  let most = 0
  let underway = 0
  const check = (): Promise<string | null> =>
    new Promise((resolve) => {
      most = Math.max(most, ++underway)
      ends.push(() => {
        underway--
        resolve(null)
      })
    })
  const targets = Array.from({ length: 1000 }, () => new CheckedTarget(PLAN, check, () => {}))
  for (let i = 0; i < 50 && targets.some(({ health }) => health === 'unknown'); i++) {
    t.mock.timers.tick(100)
    for (const end of ends.splice(0)) end()
    await heard()
  }
  assert.equal(most, 100)
  assert.ok(targets.every(({ health }) => health === 'healthy'))
  for (const target of targets) target.stop()
})
