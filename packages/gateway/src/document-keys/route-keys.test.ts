import assert from 'node:assert/strict'
import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { TestContext } from 'node:test'
import type { WebSocket } from 'ws'
import { fakeCatalog } from '../testing/fake-policy.js'
import { until } from '../testing/gateway.js'
import { answering, echoOrigin, rawOrigin } from '../testing/origin.js'
import { closeOf, openWebSocket, webSocketOrigin } from '../testing/websocket.js'
import { burst, overload, serve, testKeys } from './testing/key-tests.js'

/** Long timeouts of the upstream itself. */
const LONG = { connect: '20s', headers: '20s', idle: '20s', total: '20s' }

/** Returns the statuses of two requests to a route that responds with 204 if it matches. */
async function matched(
  t: TestContext,
  match: object,
  asked: readonly (readonly [path: string, init?: RequestInit])[],
): Promise<number[]> {
  const gateway = await serve(t, { routes: [{ id: 'one', match, respond: { status: 204 } }] })
  return Promise.all(asked.map(async ([path, init]) => (await fetch(gateway.url + path, init)).status))
}

/** Returns the request that the upstream receives. */
async function sent(
  t: TestContext,
  route: object,
  path = '/a/b?q=1',
): Promise<{ url: string; host: string }> {
  const gateway = await serve(t, { target: (await echoOrigin(t)).url, route })
  const seen = (await (await fetch(gateway.url + path)).json()) as {
    url: string
    headers: Record<string, string>
  }
  return { url: seen.url, host: seen.headers['host']! }
}

async function replied(t: TestContext, route: object, path = '/a/b?q=1'): Promise<Response> {
  const gateway = await serve(t, { routes: [{ id: 'one', match: { path: '/a/*' }, ...route }] })
  return fetch(gateway.url + path, { redirect: 'manual' })
}

async function location(t: TestContext, redirect: object): Promise<string> {
  return (await replied(t, { redirect })).headers.get('location')!
}

/** Returns the result of a request to a target that is silent, or becomes silent after some bytes. */
async function stalled(t: TestContext, timeouts: object, said = ''): Promise<string> {
  const origin = await rawOrigin(t, said === '' ? () => {} : answering(said))
  const upstream = { targets: [origin.url], timeouts: LONG }
  const gateway = await serve(t, { upstream, route: { timeouts } })
  return (await fetch(gateway.url)).text().catch(() => 'cut')
}

/** Opens a WebSocket through the gateway, with compression offered on both sides. */
async function webSocket(t: TestContext, websocket: object): Promise<WebSocket> {
  const { url } = await webSocketOrigin(t, { compresses: true })
  const gateway = await serve(t, { listener: { engine: 'node' }, target: url, route: { websocket } })
  return openWebSocket(t, gateway.url, { perMessageDeflate: true })
}

testKeys(
  'routes',
  {
    id: async (t) => {
      const gateway = await serve(t, { routes: [{ id: 'mine', respond: {} }] })
      await fetch(gateway.url)
      assert.ok(gateway.plane.samples().some(({ labels }) => labels.includes('route="mine"')))
    },
    'match.hosts': async (t) => {
      assert.deepEqual(await matched(t, { hosts: ['127.0.0.1'] }, [['/']]), [204])
      assert.deepEqual(await matched(t, { hosts: ['shop.example'] }, [['/']]), [404])
    },
    'match.path': async (t) => {
      assert.deepEqual(await matched(t, { path: '/a' }, [['/a'], ['/b']]), [204, 404])
    },
    'match.methods': async (t) => {
      assert.deepEqual(await matched(t, { methods: ['PUT'] }, [['/', { method: 'PUT' }], ['/']]), [204, 405])
    },
    'match.headers': async (t) => {
      const headers = { 'x-a': '1' }
      assert.deepEqual(await matched(t, { headers }, [['/', { headers }], ['/']]), [204, 404])
    },
    'match.query': async (t) => {
      assert.deepEqual(await matched(t, { query: { a: '1' } }, [['/?a=1'], ['/?a=2']]), [204, 404])
    },
    'match.when': async (t) => {
      assert.deepEqual(await matched(t, { when: 'req.path == "/a"' }, [['/a'], ['/b']]), [204, 404])
    },
    priority: async (t) => {
      const routes = [
        { id: 'exact', match: { path: '/a' }, respond: { status: 201 } },
        { id: 'any', priority: 1, respond: { status: 202 } },
      ]
      assert.equal((await fetch(`${(await serve(t, { routes })).url}/a`)).status, 202)
    },
    criticality: async (t) => {
      const routes = ['low', 'critical'].map((criticality) => ({
        ...{ id: criticality, criticality, match: { path: `/${criticality}` } },
        respond: { status: 204 },
      }))
      const gateway = await serve(t, { routes, overload: { maxLoopDelay: '10ms' } })
      await overload(t, gateway, 9, '/critical')
      const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
      const clients = await burst(t, gateway, [get('/low'), get('/low'), get('/critical')])
      await until(() => clients.every(({ text }) => text !== ''))
      assert.deepEqual(
        clients.map(({ text }) => text.slice(9, 12)),
        ['204', '503', '204'],
      )
    },
    cpuBudget: async (t) => {
      const catalog = fakeCatalog({
        onRequest: () => {
          for (const untilMono = performance.now() + 100; performance.now() < untilMono; );
          return null
        },
      })
      const statuses = async (keys: object): Promise<number[]> => {
        const gateway = await serve(t, {
          catalog,
          routes: [{ id: 'all', policies: [{ use: 'p' }], respond: { status: 204 }, ...keys }],
        })
        const seen: number[] = []
        for (let i = 0; i < 3; i++) seen.push((await fetch(gateway.url)).status)
        return seen
      }
      assert.deepEqual(await statuses({}), [204, 204, 204])
      assert.deepEqual(await statuses({ cpuBudget: '1ms' }), [204, 503, 503])
    },
    encodedSlashes: async (t) => {
      const path = '/a/b%2Fc'
      const kept = await sent(t, { encodedSlashes: 'keep' }, path)
      assert.equal(kept.url, path)
      const routes = ['keep', 'refuse'].map((encodedSlashes) => ({
        id: encodedSlashes,
        match: { path: `/${encodedSlashes}/*` },
        encodedSlashes,
        respond: { status: 204 },
      }))
      const gateway = await serve(t, { routes })
      const statusOf = async (id: string): Promise<number> =>
        (await fetch(`${gateway.url}/${id}/b%2Fc`)).status
      assert.deepEqual([await statusOf('keep'), await statusOf('refuse')], [204, 400])
    },
    'rewrite.prefix': async (t) => {
      const route = { match: { path: '/a/*' }, rewrite: { prefix: '/x' } }
      assert.equal((await sent(t, route)).url, '/x/b?q=1')
    },
    'rewrite.path': async (t) => {
      const route = { match: { path: '/a/{id}' }, rewrite: { path: '/x/{id}/y' } }
      assert.equal((await sent(t, route)).url, '/x/b/y?q=1')
    },
    'rewrite.regex.pattern': async (t) => {
      const route = { rewrite: { regex: { pattern: '^/a', replacement: '/x' } } }
      assert.deepEqual([(await sent(t, route)).url, (await sent(t, route, '/b/a')).url], ['/x/b?q=1', '/b/a'])
    },
    'rewrite.regex.replacement': async (t) => {
      const route = { rewrite: { regex: { pattern: '^/(a)/', replacement: '/x$1/' } } }
      assert.equal((await sent(t, route)).url, '/xa/b?q=1')
    },
    'rewrite.host': async (t) => {
      assert.equal((await sent(t, { rewrite: { host: 'inner.example' } })).host, 'inner.example')
    },
    upstream: async (t) => {
      assert.equal((await sent(t, { upstream: 'up' })).url, '/a/b?q=1')
    },
    'respond.status': async (t) => {
      assert.equal((await replied(t, { respond: { status: 418 } })).status, 418)
    },
    'respond.headers': async (t) => {
      const answer = await replied(t, { respond: { headers: { 'x-a': 'one' } } })
      assert.equal(answer.headers.get('x-a'), 'one')
    },
    'respond.body': async (t) => {
      assert.equal(await (await replied(t, { respond: { body: { a: [1] } } })).text(), '{"a":[1]}')
    },
    'redirect.status': async (t) => {
      assert.equal((await replied(t, { redirect: { status: 308, path: '/x' } })).status, 308)
    },
    'redirect.scheme': async (t) => {
      assert.match(await location(t, { scheme: 'https' }), /^https:\/\/127\.0\.0\.1/)
    },
    'redirect.host': async (t) => {
      assert.match(await location(t, { host: 'shop.example' }), /^http:\/\/shop\.example(:\d+)?\/a\/b\?q=1$/)
    },
    'redirect.port': async (t) => {
      assert.equal(await location(t, { port: 8443 }), 'http://127.0.0.1:8443/a/b?q=1')
    },
    'redirect.path': async (t) => {
      assert.equal(await location(t, { path: '/x' }), '/x?q=1')
    },
    'redirect.prefix': async (t) => {
      assert.equal(await location(t, { prefix: '/x' }), '/x/b?q=1')
    },
    'redirect.keepQuery': async (t) => {
      assert.equal(await location(t, { path: '/x', keepQuery: false }), '/x')
    },
    'timeouts.connect': async (t) => {
      const { port } = await echoOrigin(t)
      const lookup = ((host, options, done) =>
        setTimeout(() => dns.lookup(host, options, done), 300)) as LookupFunction
      const upstream = { targets: [`http://localhost:${port}`], timeouts: LONG }
      const network = { lookup, maxConnectionAgeMs: 60_000 }
      const gateway = await serve(t, { upstream, network, route: { timeouts: { connect: '20ms' } } })
      assert.match(await (await fetch(gateway.url)).text(), /\(connect\)/)
    },
    'timeouts.headers': async (t) => {
      assert.match(await stalled(t, { headers: '50ms' }), /\(headers\)/)
    },
    'timeouts.idle': async (t) => {
      const said = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive'
      assert.equal(await stalled(t, { idle: '50ms' }, said), 'cut')
    },
    'timeouts.total': async (t) => {
      assert.match(await stalled(t, { total: '50ms' }), /\(total\)/)
    },
    'websocket.idleTimeout': async (t) => {
      assert.equal((await closeOf(await webSocket(t, { idleTimeout: '50ms' }))).code, 1001)
    },
    'websocket.maxMessageBytes': async (t) => {
      const client = await webSocket(t, { maxMessageBytes: '10b' })
      client.send('a'.repeat(11))
      assert.equal((await closeOf(client)).code, 1009)
    },
    'websocket.rate': async (t) => {
      const client = await webSocket(t, { rate: 2 })
      for (let i = 0; i < 20; i++) client.send('a')
      assert.equal((await closeOf(client)).code, 1008)
    },
    'websocket.compression': async (t) => {
      assert.equal((await webSocket(t, {})).extensions, '')
      assert.equal((await webSocket(t, { compression: 'pass' })).extensions, 'permessage-deflate')
    },
  },
  // Covered by the tests of the traffic log, of the chain and of the policies.
  ['api', 'log.', 'policies.'],
)
