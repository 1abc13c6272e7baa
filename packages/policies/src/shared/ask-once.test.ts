import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStore, type StateStore, StateUnavailable } from '@sluice/core'
import { askOnce } from './ask-once.js'

/** Workers that ask for one thing, which the test gives or refuses. */
function workers(store: StateStore = new MemoryStore(), waitMs = 60_000) {
  const calls: { readonly give: (text: string) => void; readonly fail: () => void }[] = []
  const ask = () =>
    askOnce<string>({
      ...{ store, key: 'k', waitMs },
      find: async () => {
        const bytes = await store.get('k')
        return bytes === null ? null : Buffer.from(bytes).toString()
      },
      ask: async () => {
        const text = await new Promise<string>((give, reject) =>
          calls.push({ give, fail: () => reject(new Error('refused')) }),
        )
        await store.set('k', Buffer.from(text), 60_000)
        return text
      },
    })
  const called = async (times: number) => {
    while (calls.length < times) await new Promise(setImmediate)
  }
  return { ask, called, calls }
}

test('one asks for all', async () => {
  const { ask, called, calls } = workers()
  const answers = [ask(), ask(), ask()]
  await called(1)
  calls[0]!.give('a')
  assert.deepEqual(await Promise.all(answers), ['a', 'a', 'a'])
  assert.equal(await ask(), 'a')
  assert.equal(calls.length, 1)
})

test('when the one that asks fails, the next one asks', async () => {
  const { ask, called, calls } = workers()
  const answers = Promise.allSettled([ask(), ask()])
  await called(1)
  calls[0]!.fail()
  await called(2)
  calls[1]!.give('b')
  const outcomes = await answers
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('nobody waits longer than allowed for one that does not end', async () => {
  const { ask, called, calls } = workers(new MemoryStore(), 50)
  const answers = [ask(), ask()]
  await called(2)
  for (const call of calls) call.give('c')
  assert.deepEqual(await Promise.all(answers), ['c', 'c'])
})

test('without the store each asks by itself', async () => {
  const down = () => Promise.reject(new StateUnavailable('no answer'))
  const store = Object.assign(new MemoryStore(), { get: down, delete: down })
  const { ask, called, calls } = workers(store)
  const answers = [ask(), ask()]
  await called(2)
  for (const call of calls) call.give('d')
  assert.deepEqual(await Promise.all(answers), ['d', 'd'])
})
