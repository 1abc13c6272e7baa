import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RoutePlan } from '@sluice/config'
import { type PlanOverrides, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'

const PLACES = join(import.meta.dirname, '../../../logger/samples/places.mmdb')

function route(id: string, api: RoutePlan['api']): Partial<RoutePlan> & { readonly id: string } {
  const path = { text: `/${id}`, kind: 'exact' as const, segments: [{ kind: 'literal' as const, text: id }] }
  const match = { hosts: [], path, methods: [], headers: [], query: [], when: null }
  return { id, api, match, timeouts: null, action: { kind: 'respond', status: 200, headers: [], body: 'ok' } }
}

test("a record has the environment, the API of its route, and the client's location", async (t) => {
  const gateway = await startLogged(
    t,
    {
      environment: 'staging',
      listener: { trustedProxies: ['127.0.0.0/8'] },
      routes: [
        route('orders', { name: 'orders-api', group: 'sales', revision: '7' }),
        route('bare', { name: 'bare-api', group: null, revision: null }),
        route('nobody', null),
      ],
    },
    { geo: { file: PLACES } },
  )
  for (const [path, from] of [
    ['/orders', '203.0.113.7'],
    ['/bare', '2001:db8::7'],
    ['/nobody', '127.0.0.1'],
    ['/none', '198.51.100.200'],
  ] as const) {
    await fetch(`${gateway.url}${path}`, { headers: { 'x-forwarded-for': from } })
  }
  const reported = (await gateway.records()).map(({ env, route, api, group, revision, client }) => {
    const { country, geo } = client as Record<string, unknown>
    return { env, route, api, group, revision, country, geo }
  })
  const absent = { api: undefined, group: undefined, revision: undefined, country: undefined, geo: undefined }
  const common = { ...absent, env: 'staging' }
  assert.deepEqual(reported, [
    {
      ...{ ...common, route: 'orders', api: 'orders-api', group: 'sales', revision: '7' },
      ...{ country: 'TR', geo: { lat: 41.0138, lon: 28.9497 } },
    },
    { ...common, route: 'bare', api: 'bare-api', country: 'NZ', geo: { lat: -36.85, lon: 174.76 } },
    { ...common, route: 'nobody' },
    { ...common, route: '-', country: 'DE' },
  ])
})

test('a call that outlasts a deploy has the configuration that served it', async (t) => {
  const waiting: ServerResponse[] = []
  const origin = await httpOrigin(t, (_, response) => waiting.push(response))
  const overridesOf = (id: string): PlanOverrides => ({
    upstreams: [{ urls: [origin.url] }],
    routes: [{ id }],
  })
  const gateway = await startLogged(t, overridesOf('first'))
  const before = gateway.plane.digest
  const calls = [fetch(gateway.url)]
  await until(() => waiting.length === 1)
  await gateway.reload({ ...overridesOf('the-second'), log: gateway.log })
  calls.push(fetch(gateway.url))
  await until(() => waiting.length === 2)
  const after = gateway.plane.digest
  for (const response of waiting.toReversed()) response.end()
  await Promise.all(calls)
  const reported = (await gateway.records()).map(({ route, gw }) => [
    route,
    (gw as { config: string }).config,
  ])
  assert.notEqual(before, after)
  assert.deepEqual(reported.sort(), [
    ['first', before],
    ['the-second', after],
  ])
})
