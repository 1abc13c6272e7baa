import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { KnownServices } from '../../kubernetes/known-services.js'
import { until } from '../../testing/gateway.js'
import { NameServer } from '../../testing/name-server.js'
import { systemNetwork } from '../../upstream/transport/network.js'
import { bodies, type Effect, named, serve } from './key-tests.js'

/** Counts the queries of a gateway with the settings `rarely` to its name server, while another gateway makes six. */
async function questionsWith(t: TestContext, ttl: number, often: object, rarely: object): Promise<number> {
  const servers: NameServer[] = []
  for (const settings of [often, rarely]) {
    const server = await NameServer.start(t, { 'orders.test': { addresses: ['127.0.0.1'], ttl } })
    const resolve = { servers: [server.address], ...settings }
    await serve(t, { upstream: { targets: ['http://orders.test'], resolve } })
    servers.push(server)
  }
  await until(() => servers[0]!.asked >= 6)
  return servers[1]!.asked
}

/** Tests of the keys `resolve`, `srv` and `service`. */
export const nameKeys: Readonly<Record<string, Effect>> = {
  'resolve.servers': async (t) => {
    const { port } = await named(t, 'here')
    const server = await NameServer.start(t, { 'orders.test': { addresses: ['127.0.0.1'] } })
    const targets = [`http://orders.test:${port}`]
    const gateway = await serve(t, { upstream: { targets, resolve: { servers: [server.address] } } })
    await until(async () => (await bodies(gateway.url, 1))[0] === 'here')
    assert.equal((await fetch((await serve(t, { upstream: { targets } })).url)).status, 502)
  },
  'resolve.minTtl': async (t) => {
    const rarely = { minTtl: '1h', maxTtl: '1h' }
    assert.equal(await questionsWith(t, 0, { minTtl: '100ms' }, rarely), 1)
  },
  'resolve.maxTtl': async (t) => {
    const often = { minTtl: '100ms', maxTtl: '100ms' }
    assert.equal(await questionsWith(t, 3600, often, { minTtl: '100ms', maxTtl: '1h' }), 1)
  },
  'targets.service': async (t) => {
    const [one, other] = [await named(t, 'one'), await named(t, 'other')]
    const services = new KnownServices()
    const network = { ...systemNetwork(), services }
    const targets = [{ url: 'http://orders.test', service: 'k8s://orders.default:http' }]
    const { url, plane } = await serve(t, { upstream: { targets }, network })
    assert.equal((await fetch(url)).status, 503)
    const have = (...ports: number[]): void => {
      const endpoints = ports.map((port) => ({ address: '127.0.0.1', port }))
      plane.setTargets({ outages: [], services: [{ key: 'default/orders:http', endpoints }] })
    }
    have(one.port, other.port)
    assert.deepEqual((await bodies(url, 2)).sort(), ['one', 'other'])
    have(other.port)
    assert.deepEqual(await bodies(url, 2), ['other', 'other'])
    have()
    assert.equal((await fetch(url)).status, 503)
  },
  'targets.srv': async (t) => {
    const { port } = await named(t, 'here')
    const server = await NameServer.start(t, {
      '_http._tcp.orders.test': { services: [{ name: 'one.test', port }] },
      'one.test': { addresses: ['127.0.0.1'] },
    })
    const targets = [{ url: 'http://orders.test', srv: '_http._tcp.orders.test' }]
    const gateway = await serve(t, { upstream: { targets, resolve: { servers: [server.address] } } })
    await until(async () => (await bodies(gateway.url, 1))[0] === 'here')
  },
}
