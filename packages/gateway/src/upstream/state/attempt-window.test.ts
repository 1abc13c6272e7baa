import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptWindow } from './attempt-window.js'
import { Backoff } from './backoff.js'

const PLAN = { windowMs: 1000, minRequests: 4, failureRatio: 0.5, slowAfterMs: 100 }

/** Attempts with an outcome at once. */
function add(window: AttemptWindow, nowMono: number, outcomes: string): void {
  for (const outcome of outcomes) {
    window.wait(nowMono)
    window.add(nowMono, outcome === 'x', outcome === 's')
  }
}

test('attempts count for the window and are forgotten in tenths of it', () => {
  const window = new AttemptWindow(PLAN)
  add(window, 50, '.x')
  add(window, 950, 'x.s')
  assert.deepEqual([window.requests, window.failures, window.slow], [5, 2, 1])
  add(window, 1050, '.')
  assert.deepEqual([window.requests, window.failures, window.slow], [4, 1, 1])
  add(window, 90_000, '.')
  assert.deepEqual([window.requests, window.failures, window.slow], [1, 0, 0])
})

test('a ratio applies only with enough attempts, and never without a failure', () => {
  const window = new AttemptWindow(PLAN)
  add(window, 0, 'xxx')
  assert.equal(window.isFailing, false)
  add(window, 0, '...')
  assert.equal(window.isFailing, true)
  add(window, 0, '.')
  assert.equal(window.isFailing, false)
  const fine = new AttemptWindow({ ...PLAN, failureRatio: 0 })
  add(fine, 0, '....')
  assert.equal(fine.isFailing, false)
})

test('a target hangs when enough attempts wait and none was answered for too long', () => {
  const window = new AttemptWindow(PLAN)
  for (let i = 0; i < 4; i++) window.wait(10)
  assert.equal(window.isHanging(110), false)
  assert.equal(window.isHanging(111), true)
  window.add(111, false, true)
  window.wait(112)
  assert.equal(window.isHanging(200), false)
  assert.equal(window.isHanging(212), true)
  window.leave()
  assert.equal(window.isHanging(212), false)
})

test('attempts started before a restart do not count', () => {
  const window = new AttemptWindow(PLAN)
  add(window, 10, 'xxxx')
  window.restart(20)
  assert.deepEqual([window.requests, window.failures, window.isFailing], [0, 0, false])
  const covered = [19, 20].map((beganMono) => window.covers({ beganMono, sentMono: 30 }))
  assert.deepEqual(covered, [false, true])
})

test('a backoff doubles while it is needed again soon, up to its limit, and starts over after a quiet time', () => {
  const time = new Backoff(100, 350)
  let nowMono = 0
  const next = (quietMs: number): number => {
    nowMono = Math.max(time.overMono, nowMono) + quietMs
    return time.next(nowMono)
  }
  assert.deepEqual(
    [next(0), next(0), next(199), next(0), next(351), next(100)],
    [100, 200, 350, 350, 100, 200],
  )
})
