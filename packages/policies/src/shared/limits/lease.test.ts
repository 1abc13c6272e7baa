import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Grant, type LimitRule, MemoryStore, rateLimits, StateUnavailable } from '@sluice/core'
import { testEnv } from '../../testing.js'
import { VERDICT } from './lease.js'
import { LeaseTable } from './lease-table.js'
import { LimitStore } from './limit-store.js'

/** A store that counts its calls. */
class AskedStore extends MemoryStore {
  readonly asked: number[] = []
  readonly given: number[] = []
  isDown = false

  override async take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    if (this.isDown) throw new StateUnavailable('down')
    this.asked.push(amount)
    return super.take(key, rule, amount)
  }

  override async giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    this.given.push(amount)
    return super.giveBack(key, rule, amount)
  }
}

function workersOf(count: number, limit: string, store = new AskedStore(), maxKeys = 1000) {
  const [text, algorithm = 'fixed'] = limit.split(' ') as [string, LimitRule['algorithm']?]
  const limits = rateLimits({ limit: text, algorithm, ...(algorithm === 'gcra' && { burst: 10 }) })
  const env = testEnv(new Map([['state', store]]))
  const tables = Array.from(
    { length: count },
    () => new LeaseTable(limits, 'p', new LimitStore(env, 'gateway', 'local'), maxKeys),
  )
  return { store, tables }
}

/** Sends one request and says whether it passed. */
async function passes(table: LeaseTable, key = 'k', cost = 1): Promise<boolean> {
  const entry = table.of('', key)
  const verdict = entry.take(cost, performance.now())
  return (verdict === VERDICT.unknown ? await entry.takeWhenKnown(cost) : verdict) === VERDICT.allowed
}

test('workers together admit the limit and no more, and all of it', async () => {
  const { tables, store } = workersOf(4, '1000/d')
  let admitted = 0
  for (let i = 0; i < 4000; i++) if (await passes(tables[i % 4]!)) admitted++
  for (const table of tables) table.clear()
  assert.ok(admitted <= 1000 && admitted >= 990, `${admitted}`)
  assert.ok(store.asked.length < 400, `${store.asked.length} questions`)
})

test('concurrent requests share one store call, and a second one for the rest', async () => {
  const { tables, store } = workersOf(1, '100/d')
  const results = await Promise.all(Array.from({ length: 150 }, () => passes(tables[0]!)))
  assert.equal(results.filter(Boolean).length, 100)
  // The 50 requests that cannot be among the first 100 have not waited.
  assert.deepEqual(store.asked, [1, 99])
})

test('a refused key is refused without a store call', async () => {
  const { tables, store } = workersOf(1, '5/d')
  for (let i = 0; i < 50; i++) await passes(tables[0]!)
  const asked = store.asked.length
  for (let i = 0; i < 50; i++) assert.equal(await passes(tables[0]!), false)
  assert.equal(store.asked.length, asked)
})

test('unused tokens are returned and available to other workers', async () => {
  const { tables, store } = workersOf(2, '100/d')
  for (let i = 0; i < 40; i++) await passes(tables[0]!)
  tables[0]!.clear()
  assert.ok(store.given.length > 0, 'the lease was ahead')
  let admitted = 0
  for (let i = 0; i < 100; i++) if (await passes(tables[1]!)) admitted++
  assert.equal(admitted, 60)
})

test('tokens granted after close are returned too', async () => {
  const { tables, store } = workersOf(2, '100/d')
  const { asked } = store
  let used = 0
  for (;;) {
    const before = asked.length
    const verdict = tables[0]!.of('', 'k').take(1, performance.now())
    if (verdict === VERDICT.allowed) used++
    // The lease has requested more tokens in advance.
    if (verdict === VERDICT.allowed && asked.length > before) break
    if (verdict === VERDICT.unknown && (await passes(tables[0]!))) used++
    await null
  }
  tables[0]!.clear()
  let admitted = 0
  for (let i = 0; i < 100; i++) if (await passes(tables[1]!)) admitted++
  assert.equal(admitted, 100 - used)
})

test('keys beyond the limit are evicted in insertion order, and their leases are returned', async () => {
  const { tables, store } = workersOf(1, '10/d', new AskedStore(), 100)
  for (let i = 0; i < 10_000; i++) await passes(tables[0]!, `k${i}`)
  assert.equal(tables[0]!.size, 100)
  assert.equal(await passes(tables[0]!, 'k0', 10), false, 'the store remembers what the worker does not')
  assert.equal(await passes(tables[0]!, 'k0', 9), true)
  tables[0]!.sweep(performance.now() + 70_000)
  assert.equal(tables[0]!.size, 0)
  assert.equal(store.asked.length > 9999, true)
})

test('while the store is down the worker counts by itself, and asks it once a second', async () => {
  const { tables, store } = workersOf(1, '10/d')
  store.isDown = true
  let admitted = 0
  for (let i = 0; i < 100; i++) if (await passes(tables[0]!)) admitted++
  assert.equal(admitted, 10)
  store.isDown = false
  assert.equal(store.asked.length, 0)
})

test('a worker whose store has gone counts on from what the store had left', async () => {
  for (const [algorithm, used, left] of [
    ['fixed', 10, 0],
    ['gcra', 10, 0],
    ['sliding', 10, 0],
    ['fixed', 4, 6],
  ] as const) {
    const { tables, store } = workersOf(1, `10/d ${algorithm}`)
    for (let i = 0; i < used; i++) assert.equal(await passes(tables[0]!), true)
    // Idle leases are forgotten.
    tables[0]!.sweep(performance.now() + 10_000)
    store.isDown = true
    let admitted = 0
    for (let i = 0; i < 30; i++) if (await passes(tables[0]!)) admitted++
    assert.equal(admitted, left, `${algorithm} after ${used}`)
  }
})

test('a request that costs more than there can ever be is refused, and takes nothing', async () => {
  const { tables, store } = workersOf(1, '10/d')
  assert.equal(await passes(tables[0]!, 'k', 11), false)
  assert.equal(store.asked.length, 0)
  assert.equal(await passes(tables[0]!, 'k', 10), true)
})

test('the wait of a refused request depends on its cost and on what its worker holds', async () => {
  const { tables } = workersOf(1, '60/h gcra')
  const [entry, minuteMs] = [tables[0]!.of('', 'k'), 60_000]
  const waitMs = (cost: number): number => {
    const now = performance.now()
    return entry.refusing(cost, now)!.retryMonoFor(cost, now) - now
  }
  assert.equal(await passes(tables[0]!, 'k', 8), true)
  assert.equal(await passes(tables[0]!, 'k', 5), false)
  assert.ok(waitMs(5) > 2 * minuteMs && waitMs(5) <= 3 * minuteMs, `${waitMs(5)} ms`)
  assert.ok(waitMs(10) > 7 * minuteMs && waitMs(10) <= 8 * minuteMs, `${waitMs(10)} ms`)
  // Unused tokens return to the store.
  for (const lease of entry.leases) lease.giveBack(performance.now())
  assert.ok(waitMs(5) > 2 * minuteMs && waitMs(5) <= 3 * minuteMs, `${waitMs(5)} ms`)
})

test('a debt is paid before anything else is admitted', async () => {
  const { tables } = workersOf(1, '10/d')
  assert.equal(await passes(tables[0]!), true)
  for (const lease of tables[0]!.of('', 'k').leases) lease.settle(7)
  assert.equal(await passes(tables[0]!), true)
  assert.equal(await passes(tables[0]!, 'k', 2), false)
  assert.equal(await passes(tables[0]!), true)
})

test('additional cost is charged to the store even without further requests', async () => {
  const { tables, store } = workersOf(1, '100/d')
  assert.equal(await passes(tables[0]!), true)
  for (const lease of tables[0]!.of('', 'k').leases) lease.settle(30)
  tables[0]!.sweep(performance.now())
  await new Promise(setImmediate)
  for (const lease of tables[0]!.of('', 'k').leases) lease.settle(20)
  tables[0]!.clear()
  const { limit, periodMs } = rateLimits({ limit: '100/d' })[0]!.rule(0)
  const rule: LimitRule = { algorithm: 'fixed', limit, periodMs, burst: limit }
  assert.equal((await store.take('p0\n\nk', rule, 0)).remaining, 49)
})
