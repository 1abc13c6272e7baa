import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { catalog } from '@sluice/policies'
import { until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'

function uses(config: object) {
  return [
    { id: 'bans', use: 'client-ban', with: config, when: null, onError: 'fail' as const },
    {
      ...{ id: 'keys', use: 'api-key', when: null, onError: 'fail' as const },
      with: { keys: [{ id: 'a', sha256: createHash('sha256').update('the-right-key-of-a').digest('hex') }] },
    },
  ]
}

test('a client that guesses keys is banned before the next guess, and cannot get others banned', async (t) => {
  let asked = 0
  const origin = await httpOrigin(t, (_, res) => {
    asked++
    res.end()
  })
  const gateway = await startLogged(
    t,
    {
      upstreams: [{ urls: [origin.url] }],
      routes: [{ id: 'all', policies: uses({ threshold: 5, ban: '1h' }) }],
      // An address of this machine other than the client's.
      listener: { trustedProxies: ['127.0.0.2/32'] },
    },
    {},
    { catalog },
  )
  const call = async (key: string, claimed: string) => {
    const answer = await fetch(gateway.url, { headers: { 'x-api-key': key, 'x-forwarded-for': claimed } })
    await answer.arrayBuffer()
    return answer
  }
  let calls = 0
  await until(async () => (await call('a-wrong-key', `203.0.113.${calls++}`)).status === 429)
  assert.ok(calls >= 6 && calls < 10, `${calls} calls`)
  // The address that the client claims is not trusted: its owner is not banned, and the client stays banned.
  const banned = await call('the-right-key-of-a', '198.51.100.1')
  assert.equal(banned.status, 429)
  assert.equal(banned.headers.get('x-gw-error'), 'GW_CLIENT_BANNED')
  assert.ok(Number(banned.headers.get('retry-after')) > 3500)
  assert.equal(asked, 0)
  const { fields } = gateway.events.find(({ event }) => event === 'client_banned')!
  const { counted, until: end } = fields as { readonly counted: number; readonly until: string }
  assert.ok(counted >= 5 && Date.parse(end) > Date.now(), `${counted} ${end}`)
  const last = (await gateway.records()).at(-1)!
  assert.equal(last.result, 'blocked')
  assert.equal(last.error!.code, 'GW_CLIENT_BANNED')
})

test('behind a trusted proxy each client is banned for itself', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end())
  const gateway = await startLogged(
    t,
    {
      upstreams: [{ urls: [origin.url] }],
      routes: [{ id: 'all', policies: uses({ threshold: 2 }) }],
      listener: { trustedProxies: ['127.0.0.1/32'] },
    },
    {},
    { catalog },
  )
  const status = async (key: string, client: string) => {
    const headers = { 'x-api-key': key, 'x-forwarded-for': client }
    return (await fetch(gateway.url, { headers })).status
  }
  // All addresses of a /64 belong to the same client.
  let host = 1
  await until(async () => (await status('a-wrong-key', `2001:db8::${(host++).toString(16)}`)) === 429)
  assert.equal(await status('the-right-key-of-a', '2001:db8:0:0:9::1'), 429)
  assert.equal(await status('the-right-key-of-a', '2001:db8:0:1::1'), 200)
})
