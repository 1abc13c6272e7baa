import assert from 'node:assert/strict'
import { test } from 'node:test'
import { banName, MemoryStore } from '@sluice/core'
import { Bans } from './bans.js'

test('the ban of a network is lifted by any of its addresses', async () => {
  const store = new MemoryStore()
  const name = banName('b', 'ban', '2001:db8:0:0::/64')
  await store.set(name, Buffer.from('1'), 60_000)
  const policies = [{ id: 'b', use: 'client-ban', with: {} }]
  const stores = {
    plan: () => ({ routes: [{ id: 'r', policies }] }),
    use: (_: boolean, work: (storeOf: () => MemoryStore) => unknown) => work(() => store),
  }
  const bans = new Bans(stores as never, { info: () => {} } as never)
  assert.equal(await bans.lift('b', '2001:DB8:0:1::9', 'test'), 0)
  assert.equal(await bans.lift('b', '2001:DB8::9', 'test'), 1)
  assert.equal(await store.get(name), null)
})
