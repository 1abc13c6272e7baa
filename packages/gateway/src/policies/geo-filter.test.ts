import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const FILE = join(import.meta.dirname, '../../../logger/samples/places.mmdb')

test('callers are admitted by the location of the address from a trusted proxy only', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('in'))
  const policies = [
    {
      ...{ id: 'geo', use: 'geo-filter', when: null, onError: 'fail' as const },
      with: { database: { file: FILE }, allow: { countries: ['TR', 'NZ'] }, private: 'deny' },
    },
  ]
  const serve = (trustedProxies: string[]) =>
    startGateway(
      t,
      {
        upstreams: [{ urls: [origin.url] }],
        routes: [{ id: 'all', policies }],
        listener: { trustedProxies },
      },
      { catalog },
    )
  const gateway = await serve(['127.0.0.1/32'])
  const call = (url: string, client: string) => fetch(url, { headers: { 'x-forwarded-for': client } })
  assert.equal(await (await call(gateway.url, '203.0.113.7')).text(), 'in')
  assert.equal((await call(gateway.url, '2001:db8::1')).status, 200)
  const refused = await call(gateway.url, '198.51.100.200')
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_GEO_DENIED')
  assert.doesNotMatch(await refused.text(), /198\.51|"DE"/)
  // No trusted proxy vouches for the claimed address.
  const distrusting = await serve([])
  assert.equal((await call(distrusting.url, '203.0.113.7')).status, 403)
})
