import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StateStore } from '@sluice/core'
import { LimitCounters } from './limit-counters.js'

test('a period has one end time although the store has its own clock', async (t) => {
  const end = Date.parse('2030-02-01T00:00:00Z')
  t.mock.timers.enable({ apis: ['Date'], now: end - 1_000_000 })
  for (const difference of [-0.6, 0, 0.6, 3]) {
    const take = async () => ({ granted: 0, remaining: 10, resetMs: end - Date.now() + difference })
    const store = { take } as unknown as StateStore
    const policies = [{ id: 'hourly', use: 'quota', with: { limit: 10, per: 'hour' } }]
    const stores = {
      plan: () => ({ routes: [{ id: 'r', api: null, policies }] }),
      use: (_: boolean, work: (storeOf: () => StateStore) => unknown) => work(() => store),
    }
    const counters = new LimitCounters(stores as never, {} as never)
    const counts = await counters.get({ kind: 'quota', policy: 'hourly', key: 'acme' })
    assert.deepEqual(
      counts?.map(({ key, resetAt }) => [key, resetAt]),
      [['acme', new Date(end).toISOString()]],
    )
  }
})

test('IPv6 addresses are counted by /64, other keys that look like one separately', async () => {
  const take = async () => ({ granted: 0, remaining: 10, resetMs: 1000 })
  const store = { take } as unknown as StateStore
  for (const [key, counted] of [
    [undefined, '2001:db8:0:0::/64'],
    [['client.ip'], '2001:db8:0:0::/64'],
    ['consumer.id', '2001:DB8::7'],
    [['client.ip', 'consumer.id'], '2001:DB8::7'],
  ]) {
    const policies = [{ id: 'pace', use: 'rate-limit', with: { limit: '10/h', ...(key && { key }) } }]
    const stores = {
      plan: () => ({ routes: [{ id: 'r', api: null, policies }] }),
      use: (_: boolean, work: (storeOf: () => StateStore) => unknown) => work(() => store),
    }
    const counters = new LimitCounters(stores as never, {} as never)
    const counts = await counters.get({ kind: 'rate-limit', policy: 'pace', key: '2001:DB8::7' })
    assert.deepEqual(
      counts?.map((count) => count.key),
      [counted],
    )
  }
})
