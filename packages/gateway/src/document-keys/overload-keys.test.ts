import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type TestGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { overload, serve, testKeys } from './testing/key-tests.js'

const ROUTES = ['low', 'normal', 'critical'].map((criticality) => ({
  id: criticality,
  criticality,
  match: { path: `/${criticality}` },
  respond: { status: 204 },
}))

/** Returns status and Retry-After of twenty requests to each route. */
async function answers(gateway: TestGateway): Promise<Record<string, readonly (string | null)[]>> {
  const found: Record<string, (string | null)[]> = {}
  for (const { id } of ROUTES) {
    const seen = new Set<string | null>()
    for (let i = 0; i < 20; i++) {
      const { status, headers } = await fetch(`${gateway.url}/${id}`)
      seen.add(
        status === 503 ? `503 ${headers.get('retry-after')} ${headers.get('x-gw-error')}` : String(status),
      )
    }
    found[id] = [...seen].sort()
  }
  return found
}

/** Starts a gateway with as many requests in flight to a silent target. */
async function busy(t: TestContext, inFlight: number, overload: object, listener = {}): Promise<TestGateway> {
  const origin = await httpOrigin(t, () => {})
  const slow = { id: 'slow', criticality: 'critical', match: { path: '/slow' }, upstream: 'up' }
  const gateway = await serve(t, { target: origin.url, routes: [...ROUTES, slow], overload, listener })
  const abort = new AbortController()
  t.after(() => abort.abort())
  for (let i = 1; i <= inFlight; i++) {
    fetch(`${gateway.url}/slow`, { signal: abort.signal }).catch(() => {})
    while (gateway.plane.inFlight < i) await new Promise((resolve) => setImmediate(resolve))
  }
  return gateway
}

const OVERLOADED = '503 1 GW_OVERLOADED'

testKeys('overload', {
  maxLoopDelay: async (t) => {
    const gateway = await serve(t, { routes: ROUTES, overload: { maxLoopDelay: '100ms' } })
    const all = { low: ['204'], normal: ['204'], critical: ['204'] }
    overload(gateway, 99)
    assert.deepEqual(await answers(gateway), all)
    overload(gateway, 101)
    assert.deepEqual(await answers(gateway), { low: [OVERLOADED], normal: [OVERLOADED], critical: ['204'] })
    const off = await serve(t, { routes: ROUTES, overload: { maxLoopDelay: '0s' } })
    overload(off, 200)
    assert.deepEqual(await answers(off), all)
  },
  maxInFlight: async (t) => {
    const limits = { maxInFlight: 10, maxLoopDelay: '0s' }
    assert.deepEqual(await answers(await busy(t, 7, limits)), {
      low: ['204'],
      normal: ['204'],
      critical: ['204'],
    })
    assert.deepEqual((await answers(await busy(t, 8, limits)))['low'], [OVERLOADED])
    const full = await busy(t, 10, limits)
    assert.deepEqual(await answers(full), { low: [OVERLOADED], normal: [OVERLOADED], critical: ['204'] })
    const over = await busy(t, 12, limits)
    assert.deepEqual((await answers(over))['critical'], [OVERLOADED])
  },
  retryAfter: async (t) => {
    const gateway = await serve(t, { routes: ROUTES, overload: { retryAfter: '90s' } })
    overload(gateway, 300)
    assert.deepEqual((await answers(gateway))['normal'], ['503 90 GW_OVERLOADED'])
  },
})

test('health checks are answered under any load, and refusals are counted', async (t) => {
  const gateway = await serve(t, { routes: ROUTES, listener: { health: true } })
  overload(gateway, 300)
  assert.equal((await fetch(`${gateway.url}/-/readyz`)).status, 200)
  assert.equal((await fetch(`${gateway.url}/low`)).status, 503)
  const counted = gateway.plane
    .samples()
    .filter(({ name, value }) => value > 0 && /shed_total|overloaded/.test(name))
    .map(({ name, labels, value }) => `${name}{${labels}} ${value}`)
  assert.deepEqual(counted, [
    'gw_worker_overloaded{worker="1"} 1',
    'gw_requests_shed_total{criticality="low"} 1',
  ])
})

for (const engine of ['uws', 'node'] as const) {
  test(`${engine}: a refused upload of 64 KB or less keeps its connection, a longer one does not`, async (t) => {
    const gateway = await serve(t, { routes: ROUTES, listener: { engine } })
    overload(gateway, 300)
    const [short, long] = [await connectRaw(t, gateway.port), await connectRaw(t, gateway.port)]
    short.send(post(65_536) + 'x'.repeat(1000))
    long.send(post(65_537) + 'x'.repeat(1000))
    await until(() => long.isClosed)
    assert.match(long.text, /^HTTP\/1.1 503 .*connection: close/is)
    assert.equal(short.text, '')
    short.send('x'.repeat(64_536) + post(0).repeat(2))
    await until(() => statusesOf(short.text).length === 3)
    assert.doesNotMatch(short.text, /connection: close/i)
    assert.deepEqual(statusesOf(short.text), [503, 503, 503])
  })

  test(`${engine}: beyond maxInFlight no body is waited for`, async (t) => {
    const gateway = await busy(t, 10, { maxInFlight: 10 }, { engine })
    const connection = await connectRaw(t, gateway.port)
    connection.send(`${post(100)}x`)
    await until(() => connection.isClosed)
    assert.deepEqual(statusesOf(connection.text), [503])
  })
}

test('a refused client with Expect: 100-continue gets no 100', async (t) => {
  const gateway = await serve(t, { routes: ROUTES, listener: { engine: 'node' } })
  overload(gateway, 300)
  const connection = await connectRaw(t, gateway.port)
  connection.send(post(100).replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n'))
  await until(() => statusesOf(connection.text).length > 0)
  assert.deepEqual(statusesOf(connection.text), [503])
})

function post(length: number): string {
  return `POST /normal HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`
}
