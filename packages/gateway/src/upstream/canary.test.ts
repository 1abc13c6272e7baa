import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CanaryPlan } from '@sluice/config'
import { Exchange } from '@sluice/core'
import { Canary } from './canary.js'
import { requestKey } from './request-key.js'

const ABORT = { errors: 0.1, slowerMs: 100, windowMs: 10_000, minRequests: 10, cooldownMs: 60_000 }
const PLAN: CanaryPlan = { percent: 0.1, key: { kind: 'claim', name: 'sub' }, match: [], abort: ABORT }

/** A canary with a clock that the test moves. */
function watched(plan: Partial<CanaryPlan> = {}): {
  readonly canary: Canary
  readonly reasons: string[]
  pass(ms: number): void
  /** Returns the figures of the last abort. */
  figures(): unknown
} {
  let nowMono = 1
  const reasons: string[] = []
  let last: unknown = null
  const events = {
    aborted: (reason: string, figures: unknown) => {
      reasons.push(reason)
      last = figures
    },
    singleKey: (requests: number) => reasons.push(`one key in ${requests} requests`),
  }
  const canary = new Canary({ ...PLAN, ...plan }, events, () => nowMono)
  const pass = (ms: number): void => {
    nowMono += ms
  }
  return { canary, reasons, pass, figures: () => last }
}

function requestOf(subject: string): Exchange {
  const x = new Exchange()
  x.claims = new Map([['sub', subject]])
  return x
}

const USERS = Array.from({ length: 10_000 }, (_, i) => `user ${i}`)

test('a claim of the verified token is a key; without one there is none', () => {
  assert.equal(requestKey(requestOf('ada'), { kind: 'claim', name: 'sub' }), 'ada')
  assert.equal(requestKey(requestOf('ada'), { kind: 'claim', name: 'org' }), null)
  assert.equal(requestKey(new Exchange(), { kind: 'claim', name: 'sub' }), null)
})

test('a user stays at the canary while its share grows', () => {
  let before = new Set<string>()
  for (const percent of [0, 0.01, 0.1, 0.5, 1]) {
    const { canary } = watched({ percent })
    const now = new Set(USERS.filter((user) => canary.takesKey(requestOf(user))))
    assert.ok(Math.abs(now.size / USERS.length - percent) < 0.01, `${now.size} users at ${percent}`)
    for (const user of before) assert.ok(now.has(user))
    before = now
  }
})

test('a key that all of the first requests share is reported once', () => {
  const { canary, reasons } = watched()
  for (let i = 0; i < 5000; i++) canary.takesKey(requestOf('the proxy'))
  assert.deepEqual(reasons, ['one key in 1000 requests'])
})

test('keys that differ, and a share of nothing or all, are not reported', () => {
  for (const [percent, users] of [
    [0.1, 2],
    [0, 1],
    [1, 1],
  ] as const) {
    const { canary, reasons } = watched({ percent })
    for (let i = 0; i < 5000; i++) canary.takesKey(requestOf(USERS[i % users]!))
    assert.deepEqual(reasons, [])
  }
})

/** Records responses of both sides, with the canary's errors and times. */
function note(canary: Canary, count: number, errors: number, ms: number): void {
  for (let i = 0; i < count; i++) canary.note(false, false, 20)
  for (let i = 0; i < count; i++) canary.note(true, i >= count - errors, ms)
}

test('a canary with more errors than the primaries is aborted, and tried again after the cooldown', () => {
  const { canary, reasons, pass, figures } = watched({ percent: 1 })
  note(canary, 20, 2, 20)
  assert.deepEqual(reasons, [])
  note(canary, 20, 20, 20)
  assert.deepEqual(reasons, ['errors'])
  assert.deepEqual(figures(), {
    ...{ canaryRequests: 21, canaryErrors: 3, canaryMeanMs: 20 },
    ...{ primaryRequests: 40, primaryErrors: 0, primaryMeanMs: 20 },
  })
  assert.equal(canary.isAborted, true)
  assert.equal(canary.takesKey(requestOf('ada')), false)
  pass(59_999)
  note(canary, 20, 20, 20)
  assert.equal(canary.takesKey(requestOf('ada')), false)
  pass(1)
  assert.equal(canary.takesKey(requestOf('ada')), true)
  assert.equal(canary.aborts, 1)
})

test('a canary that is slower by more than allowed is aborted', () => {
  const { canary, reasons } = watched()
  note(canary, 20, 0, 120)
  assert.deepEqual(reasons, [])
  note(canary, 20, 0, 200)
  assert.deepEqual(reasons, ['slower'])
})

test('errors that the primaries have too do not abort a canary', () => {
  const { canary, reasons } = watched()
  for (let i = 0; i < 100; i++) {
    canary.note(false, true, 20)
    canary.note(true, true, 20)
  }
  assert.deepEqual(reasons, [])
})

test('fewer responses than the minimum, or before the window, do not abort a canary', () => {
  const { canary, reasons, pass } = watched()
  for (let i = 0; i < 10; i++) {
    note(canary, 9, 9, 20)
    pass(10_000)
  }
  assert.deepEqual(reasons, [])
})
