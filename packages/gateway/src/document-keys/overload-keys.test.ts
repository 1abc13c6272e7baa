import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type TestGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { burst, overload, serve, testKeys } from './testing/key-tests.js'

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

/** A short limit, so that waiting requests are refused soon. */
const SOON = { maxLoopDelay: '10ms' }
const OVERLOADED = '503 1 GW_OVERLOADED'
const get = (criticality: string): string => `GET /${criticality} HTTP/1.1\r\nHost: a\r\n\r\n`

/** Returns the statuses of requests to an overloaded worker, to routes of these criticalities, in this order. */
async function statusesWhenOverloaded(
  t: TestContext,
  { costMs, maxLoopDelay }: { readonly costMs: number; readonly maxLoopDelay: string },
  criticalities: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const gateway = await serve(t, { routes: ROUTES, overload: { maxLoopDelay } })
  await overload(t, gateway, costMs, '/normal')
  const clients = await burst(t, gateway, criticalities.map(get))
  await until(() => clients.every(({ text }) => text !== ''))
  return clients.map(({ text }) => statusesOf(text)[0])
}

testKeys('overload', {
  maxLoopDelay: async (t) => {
    const three = ['normal', 'normal', 'normal']
    const statuses = (costMs: number, maxLoopDelay: string): ReturnType<typeof statusesWhenOverloaded> =>
      statusesWhenOverloaded(t, { costMs, maxLoopDelay }, three)
    assert.deepEqual(await statuses(6, '10ms'), [204, 204, 503])
    assert.deepEqual(await statuses(6, '15ms'), [204, 204, 204])
    assert.deepEqual(await statuses(6, '0s'), [204, 204, 204])
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
    const gateway = await serve(t, { routes: ROUTES, overload: { ...SOON, retryAfter: '90s' } })
    await overload(t, gateway, 30, '/normal')
    const [, refused] = await burst(t, gateway, [get('normal'), get('normal')])
    await until(() => refused!.text !== '')
    assert.match(refused!.text, /^HTTP\/1\.1 503 /)
    assert.match(refused!.text, /^retry-after: 90\r$/im)
    assert.match(refused!.text, /^x-gw-error: GW_OVERLOADED\r$/im)
  },
})

test('an overloaded worker refuses low criticality first, and never critical', async (t) => {
  const load = { costMs: 9, maxLoopDelay: '20ms' }
  const threeTo = (criticality: string): ReturnType<typeof statusesWhenOverloaded> =>
    statusesWhenOverloaded(t, load, [criticality, criticality, criticality])
  assert.deepEqual(await threeTo('low'), [204, 204, 503])
  assert.deepEqual(await threeTo('normal'), [204, 204, 204])
  const critical = Array(20).fill('critical') as string[]
  assert.deepEqual(new Set(await statusesWhenOverloaded(t, load, critical)), new Set([204]))
})

test('health checks are answered under any load, and refusals are counted', async (t) => {
  const gateway = await serve(t, { routes: ROUTES, overload: SOON, listener: { health: true } })
  await overload(t, gateway, 30, '/normal')
  const ready = 'GET /-/readyz HTTP/1.1\r\nHost: a\r\n\r\n'
  const clients = await burst(t, gateway, [get('low'), get('low'), ready])
  await until(() => clients.every(({ text }) => text !== ''))
  assert.deepEqual(
    clients.map(({ text }) => statusesOf(text)[0]),
    [204, 503, 200],
  )
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
    const gateway = await serve(t, { routes: ROUTES, overload: SOON, listener: { engine } })
    await overload(t, gateway, 30, '/normal')
    const [, short, long] = await burst(t, gateway, [
      get('normal'),
      post(65_536) + 'x'.repeat(1000),
      post(65_537) + 'x'.repeat(1000),
    ])
    await until(() => long!.isClosed)
    assert.match(long!.text, /^HTTP\/1.1 503 .*connection: close/is)
    assert.equal(short!.text, '')
    short!.send('x'.repeat(64_536) + post(0))
    await until(() => statusesOf(short!.text).length === 2)
    assert.doesNotMatch(short!.text, /connection: close/i)
    assert.deepEqual(statusesOf(short!.text), [503, 204])
  })

  test(`${engine}: uploads that wait are served with their whole bodies`, async (t) => {
    const bodies: string[] = []
    const origin = await httpOrigin(t, async (req, res) => {
      let body = ''
      for await (const chunk of req) body += chunk
      bodies.push(body)
      res.end()
    })
    const routes = [...ROUTES, { id: 'up', match: { path: '/up' }, upstream: 'up' }]
    const gateway = await serve(t, { target: origin.url, routes, listener: { engine } })
    await overload(t, gateway, 5, '/normal')
    const sizes = [10, 5000, 70_000, 300_000]
    const clients = await burst(
      t,
      gateway,
      sizes.map((size) => post(size).replace('/normal', '/up') + 'x'.repeat(size)),
    )
    await until(() => clients.every(({ text }) => text !== ''))
    assert.deepEqual(
      clients.map(({ text }) => statusesOf(text)[0]),
      [200, 200, 200, 200],
    )
    assert.deepEqual(
      bodies.map(({ length }) => length).sort((a, b) => a - b),
      sizes,
    )
  })

  test(`${engine}: a client that leaves while it waits is recorded, and its request is not sent`, async (t) => {
    let requests = 0
    const origin = await httpOrigin(t, (_, res) => {
      requests++
      res.end()
    })
    const routes = [...ROUTES, { id: 'up', match: { path: '/up' }, upstream: 'up' }]
    const gateway = await serve(t, { target: origin.url, routes, listener: { engine } })
    await overload(t, gateway, 3, '/normal')
    const clients = await burst(t, gateway, Array(60).fill(get('up')) as string[])
    for (const client of clients) client.reset()
    await until(() => gateway.plane.connections === 1)
    await until(() => gateway.plane.inFlight === 0)
    const before = requests
    assert.equal((await fetch(`${gateway.url}/normal`)).status, 204)
    assert.equal(requests, before)
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
  const gateway = await serve(t, { routes: ROUTES, overload: SOON, listener: { engine: 'node' } })
  await overload(t, gateway, 30, '/normal')
  const expecting = post(100).replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n')
  const [, connection] = await burst(t, gateway, [get('normal'), expecting])
  await until(() => statusesOf(connection!.text).length > 0)
  assert.deepEqual(statusesOf(connection!.text), [503])
})

test('a draining worker serves requests that wait', async (t) => {
  const gateway = await serve(t, { routes: ROUTES })
  await overload(t, gateway, 3, '/normal')
  const clients = await burst(t, gateway, Array(30).fill(get('normal')) as string[])
  // This runs after the requests have been read, and before the first of them is served.
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await gateway.plane.drain(5000), 0)
  await until(() => clients.every(({ text }) => text !== ''))
  assert.deepEqual(new Set(clients.map(({ text }) => statusesOf(text)[0])), new Set([204]))
})

function post(length: number): string {
  return `POST /normal HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`
}
