import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IssuedToken, NoToken, TokenSource } from './token-source.js'

/** An authorization server that issues `t1`, `t2`, … when the test says so. */
function server(lifeMs = 60_000) {
  const calls: { issue: () => void; fail: () => void }[] = []
  const reasons: string[] = []
  const fetch = (): Promise<IssuedToken> =>
    new Promise((resolve, reject) => {
      const value = `t${calls.length + 1}`
      calls.push({ issue: () => resolve({ value, lifeMs }), fail: () => reject(new Error('down')) })
    })
  const clock = { now: 1000 }
  const onFailure = (reason: string): void => void reasons.push(reason)
  const source = new TokenSource({ refreshBeforeMs: 30_000, onFailure, now: () => clock.now })
  source.use(fetch)
  return { calls, clock, reasons, source }
}

test('concurrent callers share one token request', async () => {
  const { calls, source } = server()
  const waiting = [source.get(), source.get(), source.get()]
  assert.equal(calls.length, 1)
  calls[0]!.issue()
  assert.deepEqual(await Promise.all(waiting), ['t1', 't1', 't1'])
  assert.equal(source.get(), 't1')
})

test('a token that ends soon is replaced in the background, while it is used', async () => {
  const { calls, clock, source } = server()
  const first = source.get()
  calls[0]!.issue()
  assert.equal(await first, 't1')
  clock.now += 41_000
  source.keepFresh()
  assert.equal(calls.length, 1, 'nobody has used it')
  assert.equal(source.get(), 't1')
  source.keepFresh()
  assert.equal(calls.length, 2)
  calls[1]!.fail()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(source.get(), 't1', 'the old one is still good')
  clock.now += 15_000
  const late = source.get()
  assert.equal(calls.length, 3, 'it has ended')
  calls[2]!.issue()
  assert.equal(await late, 't3')
})

test('a failure pauses requests and reports the time of the next one', async () => {
  const { calls, clock, reasons, source } = server()
  const first = source.get()
  calls[0]!.fail()
  await assert.rejects(async () => first, NoToken)
  assert.throws(() => source.get(), NoToken)
  assert.equal(calls.length, 1)
  assert.deepEqual(reasons, ['down'])
  clock.now += 1001
  const second = source.get()
  calls[1]!.fail()
  await assert.rejects(async () => second, NoToken)
  clock.now += 1001
  assert.throws(() => source.get(), NoToken, 'each failure makes it wait for longer')
})

test('a token that a backend refuses is replaced once, whoever tells it, and not again for a while', async () => {
  const { calls, source } = server()
  const first = source.get()
  calls[0]!.issue()
  await first
  assert.equal(source.refuse('t1'), true)
  assert.equal(source.refuse('t1'), true, 'another request that had it')
  const second = source.get()
  assert.equal(calls.length, 2)
  calls[1]!.issue()
  assert.equal(await second, 't2')
  assert.equal(source.refuse('t2'), false)
  assert.equal(source.get(), 't2')
})

test('a refused token is used on while no other can be had, as long as it lives', async () => {
  const { calls, clock, source } = server()
  const first = source.get()
  calls[0]!.issue()
  await first
  assert.equal(source.refuse('t1'), true)
  const second = source.get()
  calls[1]!.fail()
  assert.equal(await second, 't1', 'whoever was refused may have been the reason himself')
  assert.equal(source.get(), 't1')
  assert.equal(source.refuse('t1'), false, 'there is no other')
  clock.now += 2000
  const third = source.get()
  calls[2]!.issue()
  assert.equal(await third, 't3')
  clock.now += 12_000
  assert.equal(source.refuse('t3'), true)
  clock.now += 60_000
  const late = source.get()
  calls[3]!.fail()
  await assert.rejects(async () => late, NoToken)
})
