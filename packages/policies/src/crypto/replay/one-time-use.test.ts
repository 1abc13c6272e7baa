import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStore, MemoryTable, type StateStore, StateUnavailable } from '@sluice/core'
import { testEnv } from '../../testing.js'
import { OneTimeUse } from './one-time-use.js'
import { ReplayCache } from './replay-cache.js'
import type { SharingConfig } from './sharing-options.js'

/** A worker that remembers keys for 100 ms, with a store that it may share with others. */
function worker(store: StateStore, sharing: SharingConfig = {}, space = 'test') {
  const table = new Map<string, unknown>([['state', store]])
  const env = testEnv(table)
  const once = new OneTimeUse(env, { space, seen: new ReplayCache(9, 100), sharing })
  return { once, reports: env.reports }
}

test('workers with a shared store accept a key once', async () => {
  const store = new MemoryStore()
  const [a, b, other] = [worker(store).once, worker(store).once, worker(store, {}, 'other').once]
  const verdicts = await Promise.all([a.use('k', 0), b.use('k', 0)])
  assert.deepEqual(verdicts.sort(), ['first', 'replayed'])
  assert.equal(await other.use('k', 0), 'first')
})

test('what a worker has seen itself it refuses without the store', () => {
  const { once } = worker(new MemoryStore())
  assert.ok(once.use('k', 0) instanceof Promise)
  assert.equal(once.use('k', 0), 'replayed')
})

test('the store remembers for a minute longer, because the clocks of gateways differ', async () => {
  let nowMs = 0
  const store = new MemoryStore(new MemoryTable(undefined, () => nowMs))
  assert.equal(await worker(store).once.use('k', 0), 'first')
  nowMs = 60_099
  assert.equal(await worker(store).once.use('k', 0), 'replayed')
  nowMs = 60_100
  assert.equal(await worker(store).once.use('k', 0), 'first')
})

test('while the store is away nothing passes, or each worker goes by what it has seen', async () => {
  const real = new MemoryStore()
  let isDown = true
  const store = new Proxy(real, {
    get: (target, name) =>
      name === 'set' && isDown
        ? () => Promise.reject(new StateUnavailable('no answer'))
        : Reflect.get(target, name).bind(target),
  })
  const closed = worker(store)
  assert.equal(await closed.once.use('k', 0), 'unavailable')
  assert.equal(await closed.once.use('k', 0), 'unavailable', 'it was not used, so it may come again')
  const local = worker(store, { onStoreDown: 'local' })
  assert.equal(await local.once.use('k', 0), 'first')
  assert.equal(await local.once.use('k', 0), 'replayed')
  for (const { reports } of [closed, local])
    assert.deepEqual(
      reports.map(({ event }) => event),
      ['replay_store_down'],
    )
  isDown = false
  assert.equal(await worker(store).once.use('k', 0), 'first')
})
