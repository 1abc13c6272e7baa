import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallCache, type CallCacheOptions, type Found } from './call-cache.js'

interface Value {
  readonly n: number
}

/** A cache, and a server that responds with 1, 2, … after 100 ms each, unless the test says otherwise. */
function cacheOf(options: Partial<CallCacheOptions> = {}) {
  const clock = { now: 0 }
  const cache = new CallCache<Value>({
    ...{ maxEntries: 2, maxBytes: 10_000, revalidateMs: 0, staleMs: 0, now: () => clock.now },
    ...options,
  })
  const server = { calls: 0, isDown: false, more: {} as Partial<Found<Value>> }
  const ask = async (): Promise<Found<Value>> => {
    const n = ++server.calls
    await new Promise((resolve) => setImmediate(resolve))
    if (server.isDown) throw new Error('down')
    return { value: { n }, ttlMs: 100, bytes: 10, isNegative: false, isCallerSpecific: false, ...server.more }
  }
  return { clock, server, get: async (key: string) => (await cache.get(key, ask)).n }
}

test('concurrent identical calls are coalesced, and later ones use the result', async () => {
  const { clock, get, server } = cacheOf()
  assert.deepEqual(await Promise.all([get('a'), get('a'), get('b')]), [1, 1, 2])
  assert.equal(await get('a'), 1)
  clock.now = 100
  assert.equal(await get('a'), 3)
  assert.equal(server.calls, 3)
})

test('a failure reaches all waiting callers and is not stored', async () => {
  const { get, server } = cacheOf()
  server.isDown = true
  const results = await Promise.allSettled([get('a'), get('a')])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  server.isDown = false
  assert.equal(await get('a'), 2)
})

test('a stale value is used during a refresh and an outage', async () => {
  const { clock, get, server } = cacheOf({ revalidateMs: 50, staleMs: 1000 })
  await get('a')
  clock.now = 120
  assert.deepEqual([await get('a'), await get('a'), server.calls], [1, 1, 2])
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await get('a'), 2)
  server.isDown = true
  clock.now = 1000
  assert.equal(await get('a'), 2)
  clock.now = 1300
  await assert.rejects(get('a'))
})

test('refusals do not evict other entries, and entries are limited by number and bytes', async () => {
  const { get, server } = cacheOf({ maxBytes: 700 })
  await get('good')
  server.more = { isNegative: true }
  for (const key of ['x', 'y', 'z']) await get(key)
  assert.equal(await get('good'), 1)
  server.more = { bytes: 100_000 }
  await get('huge')
  assert.equal(await get('huge'), 6)
})

test('a personal result is not shared with waiting callers', async () => {
  const { get, server } = cacheOf()
  server.more = { isCallerSpecific: true, ttlMs: 0 }
  assert.deepEqual(await Promise.all([get('a'), get('a'), get('a')]), [1, 2, 3])
})
