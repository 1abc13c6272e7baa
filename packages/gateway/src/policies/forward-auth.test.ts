import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { startGateway, type TestGateway, until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'

const FIELDS = [
  "{ use: header, with: { response: { set: { x-who: '{{consumer.id}}', x-state: '{{vars.forward-auth}}' } } } }",
]

/** Starts a gateway that sends the requests of its one route to `url` for a decision and then to `target`. */
async function gatewayAsking(
  t: TestContext,
  target: string,
  settings: Readonly<Record<string, unknown>>,
  port?: number,
): Promise<TestGateway> {
  const policy = JSON.stringify({ use: 'forward-auth', with: { timeout: '20s', ...settings } })
  const text = `version: 1
upstreams: { up: { targets: ['${target}'], timeouts: { connect: 20s, headers: 20s } } }
routes: [{ id: a, upstream: up, policies: [${[policy, ...FIELDS].join(', ')}] }]
`
  const { plan } = loadOrThrow(text, catalog)
  const upstreams = [{ urls: [target], name: 'up', maxPending: 2000, pendingTimeoutMs: 60_000 }]
  const options = { catalog, ...(port !== undefined && { port }) }
  return startGateway(t, { upstreams, routes: plan.routes }, options)
}

/** Starts a server that records its requests and responds as the test says. */
async function server(t: TestContext, first: (res: ServerResponse, req: IncomingMessage) => void) {
  const calls: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = []
  const it = { calls, answer: first, url: '' }
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    calls.push({ method: req.method!, url: req.url!, headers: req.headers, body })
    it.answer(res, req)
  })
  it.url = origin.url
  return it
}

const backend = (t: TestContext) => server(t, (res) => res.end('from the backend'))

test("the server gets the request, and the upstream gets only the server's headers", async (t) => {
  const up = await backend(t)
  const auth = await server(t, (res) =>
    res
      .writeHead(200, {
        ...{ 'x-user-id': 'ann', 'x-user-groups': 'a, b', 'x-other': '1' },
        'set-cookie': ['s=1', 't=2'],
      })
      .end('ignored'),
  )
  const gateway = await gatewayAsking(t, up.url, {
    url: `${auth.url}/verify?a=1`,
    headers: { 'x-route': '{{route.id}}' },
    upstreamHeaders: ['X-User-Id', 'x-admin'],
    clientHeaders: ['set-cookie'],
    consumer: { id: 'x-user-id', groups: 'x-user-groups' },
  })
  const response = await fetch(`${gateway.url}/a%20b?c=%2F`, {
    method: 'DELETE',
    headers: {
      ...{ authorization: 'Bearer x', cookie: 's=0', 'x-secret': '1', 'x-forwarded-method': 'GET' },
      ...{ 'x-user-id': 'root', x_user_id: 'root', 'x-admin': '1', 'x-route': 'forged' },
      ...{ 'X-User-Groups': 'admins', x_user_groups: 'admins' },
    },
  })
  assert.equal(await response.text(), 'from the backend')
  assert.deepEqual(response.headers.getSetCookie(), ['s=1', 't=2'])
  assert.equal(response.headers.get('x-who'), 'ann')
  const [{ method, url, headers }] = auth.calls as [(typeof auth.calls)[0]]
  assert.deepEqual([method, url], ['GET', '/verify?a=1'])
  assert.deepEqual(Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'connection')), {
    ...{ authorization: 'Bearer x', cookie: 's=0', host: new URL(auth.url).host, 'x-route': 'a' },
    ...{ 'x-forwarded-method': 'DELETE', 'x-forwarded-proto': 'http', 'x-sluice-hops': '1' },
    ...{ 'x-forwarded-host': new URL(gateway.url).host, 'x-forwarded-uri': '/a%20b?c=%2F' },
    'x-forwarded-for': '127.0.0.1',
  })
  const sent = up.calls[0]!.headers
  assert.deepEqual(
    [sent['x-user-id'], sent['x_user_id'], sent['x-admin'], sent['x-other']],
    ['ann', undefined, undefined, undefined],
  )
  // The upstream gets the groups from the server's response or none.
  assert.deepEqual([sent['x-user-groups'], sent['x_user_groups']], [undefined, undefined])
})

test('a refusal is passed on with its status, its body and the fields that are meant for clients', async (t) => {
  const up = await backend(t)
  const auth = await server(t, () => {})
  const gateway = await gatewayAsking(t, up.url, { url: auth.url })
  const send = async (method = 'GET') => {
    const response = await fetch(gateway.url, { method, redirect: 'manual' })
    return { response, text: await response.text() }
  }
  auth.answer = (res) => {
    const fields = {
      location: 'https://login.example.com/?back=1',
      'set-cookie': ['s=1', 't=2'],
      'x-internal': '1',
    }
    res.writeHead(302, fields).end()
  }
  const redirect = await send()
  assert.deepEqual([redirect.response.status, redirect.text], [302, ''])
  assert.equal(redirect.response.headers.get('location'), 'https://login.example.com/?back=1')
  assert.deepEqual(redirect.response.headers.getSetCookie(), ['s=1', 't=2'])
  assert.equal(redirect.response.headers.get('x-internal'), null)
  auth.answer = (res) =>
    res.writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'text/html' }).end('<b>who?</b>')
  const page = await send()
  assert.deepEqual([page.response.status, page.text], [401, '<b>who?</b>'])
  assert.equal(page.response.headers.get('content-type'), 'text/html')
  assert.equal(page.response.headers.get('www-authenticate'), 'Bearer')
  assert.equal(page.response.headers.get('x-gw-error'), 'GW_ACCESS_DENIED')
  assert.deepEqual([(await send('HEAD')).response.status, (await send('HEAD')).text], [401, ''])
  auth.answer = (res) => res.writeHead(403, { 'content-type': 'text/plain' }).end()
  const bare = await send()
  assert.equal(bare.response.headers.get('content-type'), 'application/problem+json')
  assert.match(bare.text, /GW_ACCESS_DENIED/)
  assert.deepEqual(up.calls, [])
})

test('without a decision requests are refused, unless configured otherwise', async (t) => {
  const up = await backend(t)
  const auth = await server(t, () => {})
  const half = await rawOrigin(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'))
  })
  const garbage = await rawOrigin(t, (socket) => socket.end('yes\r\n\r\n'))
  const split = 'HTTP/1.1 200 OK\r\nx-user-id: a\rb\r\ncontent-length: 0\r\n\r\n'
  const lines = await rawOrigin(t, (socket) => void socket.once('data', () => socket.write(split)))
  const answers: Readonly<Record<string, (res: ServerResponse) => void>> = {
    silence: () => {},
    error: (res) => res.writeHead(500).end(),
    'not modified': (res) => res.writeHead(304).end(),
    'a large answer': (res) => res.end('x'.repeat(70_000)),
    nobody: (res) => res.writeHead(200).end(),
  }
  const refused = async (what: string, url: string): Promise<void> => {
    const timeout = what === 'silence' ? '100ms' : '20s'
    const settings = { url, timeout, upstreamHeaders: ['x-user-id'], consumer: { id: 'x-user-id' } }
    const gateway = await gatewayAsking(t, up.url, settings)
    const response = await fetch(gateway.url)
    const seen = [response.status, response.headers.get('x-gw-error')]
    assert.deepEqual(seen, [503, 'GW_AUTH_UNAVAILABLE'], what)
    assert.ok(gateway.events.some(({ event }) => event === 'forward_auth_failed'))
    assert.deepEqual(up.calls, [], what)
  }
  await refused('nobody there', `http://127.0.0.1:${await closedPort()}`)
  await refused('half an answer', half.url)
  await refused('garbage', garbage.url)
  await refused('broken lines', lines.url)
  for (const [what, answer] of Object.entries(answers)) {
    auth.answer = answer
    await refused(what, auth.url)
  }
  auth.answer = (res) => res.writeHead(500).end()
  const settings = { url: auth.url, onFailure: 'allow', upstreamHeaders: ['x-user-id'] }
  const open = await gatewayAsking(t, up.url, settings)
  const response = await fetch(open.url, { headers: { 'x-user-id': 'root' } })
  assert.deepEqual([response.status, response.headers.get('x-state')], [200, 'unavailable'])
  assert.equal(up.calls[0]!.headers['x-user-id'], undefined)
})

test('1,000 concurrent identical requests share one call', async (t) => {
  const up = await backend(t)
  const waiting: ServerResponse[] = []
  const auth = await server(t, (res) => void waiting.push(res))
  const gateway = await gatewayAsking(t, up.url, { url: auth.url, timeout: '20s' })
  const all = Array.from({ length: 1000 }, async () => (await fetch(gateway.url)).status)
  const other = fetch(gateway.url, { headers: { authorization: 'Bearer other' } })
  await until(() => gateway.plane.inFlight === 1001)
  await until(() => waiting.length === 2)
  for (const res of waiting) res.end()
  assert.deepEqual([...new Set(await Promise.all(all))], [200])
  assert.equal((await other).status, 200)
  assert.equal(auth.calls.length, 2)
})

test('decisions are cached by their inputs, and longer during an outage', async (t) => {
  const up = await backend(t)
  const auth = await server(t, (res, req) =>
    res.writeHead(req.headers.authorization === 'good' ? 200 : 403).end(),
  )
  const ask = async (settings: object, credentials: string[]): Promise<number[]> => {
    auth.calls.length = 0
    const gateway = await gatewayAsking(t, up.url, { url: auth.url, ...settings })
    const statuses: number[] = []
    for (const [i, authorization] of credentials.entries())
      statuses.push((await fetch(`${gateway.url}/${i}`, { headers: { authorization } })).status)
    return [...statuses, auth.calls.length]
  }
  const key = ['req.header["authorization"]']
  const often = ['good', 'good', 'bad', 'good', 'bad']
  assert.deepEqual(await ask({}, often), [200, 200, 403, 200, 403, 5])
  assert.deepEqual(await ask({ cache: {} }, often), [200, 200, 403, 200, 403, 5], 'the path is sent too')
  assert.deepEqual(await ask({ cache: { key } }, often), [200, 200, 403, 200, 403, 2])
  assert.deepEqual(await ask({ cache: { key, negativeTtl: '0ms' } }, often), [200, 200, 403, 200, 403, 3])
  for (const field of [
    ['cache-control', 'no-store'],
    ['cache-control', 'max-age=0'],
    ['set-cookie', 's=1'],
  ] as const) {
    auth.answer = (res) => res.writeHead(200, [...field]).end()
    assert.deepEqual(await ask({ cache: { key } }, ['good', 'good']), [200, 200, 2], field.join())
  }
  auth.answer = (res) => res.end()
  const settings = { url: auth.url, cache: { key, ttl: '1ms', staleIfError: '1h' } }
  const gateway = await gatewayAsking(t, up.url, settings)
  const status = async (authorization: string) =>
    (await fetch(gateway.url, { headers: { authorization } })).status
  assert.equal(await status('good'), 200)
  auth.answer = (res) => res.writeHead(500).end()
  const before = auth.calls.length
  await until(async () => {
    assert.equal(await status('good'), 200)
    return auth.calls.length > before
  })
  assert.equal(await status('unknown'), 503)
  auth.answer = (res) => res.writeHead(403).end()
  await until(async () => (await status('good')) === 403)
})

test('a cookie for one caller is not sent to another who waits for the same decision', async (t) => {
  const up = await backend(t)
  const waiting: [ServerResponse, IncomingMessage][] = []
  const auth = await server(t, (res, req) => void waiting.push([res, req]))
  const cache = { key: ['req.path'] }
  const gateway = await gatewayAsking(t, up.url, { url: auth.url, clientHeaders: ['set-cookie'], cache })
  const cookieOf = async (cookie: string) =>
    (await fetch(gateway.url, { headers: { cookie } })).headers.getSetCookie().join()
  const both = Promise.all([cookieOf('a=1'), cookieOf('b=1')])
  await until(() => gateway.plane.inFlight === 2)
  const answer = (): void => {
    for (const [res, req] of waiting.splice(0))
      res.writeHead(200, { 'set-cookie': `for-${req.headers.cookie}` }).end()
  }
  await until(() => {
    answer()
    return auth.calls.length === 2
  })
  answer()
  assert.deepEqual(await both, ['for-a=1', 'for-b=1'])
})

test('the body is sent if configured, and a loop through the gateway ends', async (t) => {
  const up = await backend(t)
  const auth = await server(t, (res) => res.end())
  const gateway = await gatewayAsking(t, up.url, { url: auth.url, withBody: true })
  assert.equal((await fetch(gateway.url, { method: 'PUT', body: 'a body' })).status, 200)
  assert.deepEqual(
    [auth.calls[0]!.method, auth.calls[0]!.body, up.calls[0]!.body],
    ['POST', 'a body', 'a body'],
  )
  const port = await closedPort()
  const loop = await gatewayAsking(t, up.url, { url: `http://127.0.0.1:${port}/` }, port)
  const response = await fetch(loop.url)
  assert.deepEqual([response.status, up.calls.length], [503, 1])
  const direct = await fetch(loop.url, { headers: { 'x-sluice-hops': '5' } })
  assert.deepEqual([direct.status, direct.headers.get('x-gw-error')], [508, 'GW_CALL_LOOP'])
})

test('configuration errors are reported for the document', async (t) => {
  const url = 'http://127.0.0.1:1/'
  const mistakes: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ url: 'file:///etc/passwd' }, /not a valid address/],
    [{ url, requestHeaders: ['x-forwarded-for'] }, /set by the policy itself/],
    [{ url, upstreamHeaders: ['content-length'] }, /content-length/],
    [{ url, cache: { key: ['req.body.json("$.a")'] } }, /request head/],
    [{ url, cache: { ttl: '2d' } }, /longer than/],
    [{ url, timeout: '1m' }, /between 1ms and 20s/],
  ]
  for (const [settings, message] of mistakes) await assert.rejects(gatewayAsking(t, url, settings), message)
})

test('the server decides about the path that the upstream gets', async (t) => {
  const up = await backend(t)
  const auth = await server(t, (res) => res.end())
  const gateway = await gatewayAsking(t, up.url, { url: auth.url })
  const client = await connectRaw(t, gateway.port)
  for (const path of ['/public/%2e%2e/admin', '/public/../admin?a=..', '/a%20b/./c']) {
    const before = client.receivedBytes
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await until(() => client.receivedBytes > before)
  }
  await until(() => up.calls.length === 3)
  assert.deepEqual(
    auth.calls.map(({ headers }) => headers['x-forwarded-uri']),
    up.calls.map(({ url }) => url),
  )
})

test('a personal decision is not shared with a concurrent identical request', async (t) => {
  let session = 0
  const auth = await server(t, (res) => {
    const cookie = `s=${++session}`
    setTimeout(() => res.writeHead(302, { 'set-cookie': cookie, location: '/login' }).end(), 20)
  })
  const gateway = await gatewayAsking(t, (await backend(t)).url, {
    url: auth.url,
    denyHeaders: ['set-cookie', 'location'],
  })
  const answers = await Promise.all(
    [1, 2, 3].map(async () => (await fetch(gateway.url, { redirect: 'manual' })).headers.get('set-cookie')),
  )
  assert.deepEqual(answers.sort(), ['s=1', 's=2', 's=3'])
})
