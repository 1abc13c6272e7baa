import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalog } from '@sluice/policies'
import { PEOPLE, person, Slapd, slapdSkip } from '@sluice/policies/testing'
import { serve } from '../document-keys/testing/key-tests.js'

test('a thousand logins share one directory call, and new logins fail without it', {
  skip: slapdSkip,
}, async (t) => {
  const slapd = await Slapd.start([person('ann', 'secret')])
  t.after(() => slapd.stop())
  const timeouts = { connect: '60s', operation: '60s' }
  const policies = [
    { use: 'ldap', with: { urls: [slapd.url], timeouts, userDn: `uid={{username}},${PEOPLE}` } },
    { use: 'authorize', with: { allow: [{ consumers: ['ann'] }] } },
  ]
  const gateway = await serve(t, { routes: [{ id: 'all', respond: { status: 204 }, policies }], catalog })
  const status = async (name: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${name}:secret`).toString('base64')}`
    return (await fetch(gateway.url, { headers: { authorization } })).status
  }
  const statuses = await Promise.all(Array.from({ length: 1000 }, () => status('ann')))
  assert.deepEqual([...new Set(statuses)], [204])
  assert.equal(await status('bob'), 401)
  while (slapd.bindsOf(`uid=bob,${PEOPLE}`) === 0) await new Promise(setImmediate)
  assert.equal(slapd.bindsOf(`uid=ann,${PEOPLE}`), 1)
  await slapd.stop()
  assert.deepEqual([await status('ann'), await status('eve')], [204, 503])
  assert.ok(gateway.events.some(({ event }) => event === 'ldap_down'))
})
