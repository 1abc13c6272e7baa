import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStore, type StateStore, StateUnavailable } from '@sluice/core'
import { singleFlight } from './single-flight.js'

/** Workers that request the same value, which the test provides or refuses. */
function workers(store: StateStore = new MemoryStore(), waitMs = 60_000) {
  const calls: { readonly give: (text: string) => void; readonly fail: () => void }[] = []
  const ask = () =>
    singleFlight<string>({
      ...{ store, key: 'k', waitMs },
      read: (bytes) => Buffer.from(bytes).toString(),
      ask: async () => {
        const text = await new Promise<string>((give, reject) =>
          calls.push({ give, fail: () => reject(new Error('refused')) }),
        )
        return { value: text, bytes: Buffer.from(text), ttlMs: 60_000 }
      },
    })
  const called = async (times: number) => {
    while (calls.length < times) await new Promise(setImmediate)
  }
  return { ask, called, calls }
}

test('one worker calls for all', async () => {
  const { ask, called, calls } = workers()
  const answers = [ask(), ask(), ask()]
  await called(1)
  calls[0]!.give('a')
  assert.deepEqual(await Promise.all(answers), ['a', 'a', 'a'])
  assert.equal(await ask(), 'a')
  assert.equal(calls.length, 1)
})

test('if the call fails, the other workers call themselves', async () => {
  const { ask, called, calls } = workers()
  const answers = Promise.allSettled([ask(), ask(), ask()])
  await called(1)
  calls[0]!.fail()
  await called(3)
  for (const call of calls.slice(1)) call.give('b')
  const outcomes = await answers
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected'])
})

test('an unstored answer is used only by its caller, and the others do not wait again', async () => {
  const store = new MemoryStore()
  const waiting: ((text: string) => void)[] = []
  const ask = () =>
    singleFlight<string>({
      ...{ store, key: 'k', waitMs: 60_000, read: () => null },
      ask: async () => {
        const value = await new Promise<string>((resolve) => waiting.push(resolve))
        return { value, bytes: null, ttlMs: 60_000 }
      },
    })
  const answers = [ask(), ask(), ask()]
  while (waiting.length < 1) await new Promise(setImmediate)
  waiting[0]!('mine')
  while (waiting.length < 3) await new Promise(setImmediate)
  for (const give of waiting) give('yours')
  assert.deepEqual((await Promise.all(answers)).sort(), ['mine', 'yours', 'yours'])
})

test("a call that exceeds its time does not release another's lock", async () => {
  const { ask, called, calls } = workers(new MemoryStore(), 50)
  const late = ask()
  await called(1)
  await new Promise((resolve) => setTimeout(resolve, 60))
  const next = [ask(), ask()]
  await called(2)
  calls[0]!.fail()
  await assert.rejects(late)
  calls[1]!.give('e')
  assert.deepEqual(await Promise.all(next), ['e', 'e'])
  assert.equal(calls.length, 2)
})

test('waiting for an endless call is limited', async () => {
  const { ask, called, calls } = workers(new MemoryStore(), 50)
  const answers = [ask(), ask()]
  await called(2)
  for (const call of calls) call.give('c')
  assert.deepEqual(await Promise.all(answers), ['c', 'c'])
})

test('without the store each worker calls itself', async () => {
  const down = () => Promise.reject(new StateUnavailable('no answer'))
  const store = Object.assign(new MemoryStore(), { get: down, delete: down })
  const { ask, called, calls } = workers(store)
  const answers = [ask(), ask()]
  await called(2)
  for (const call of calls) call.give('d')
  assert.deepEqual(await Promise.all(answers), ['d', 'd'])
})
