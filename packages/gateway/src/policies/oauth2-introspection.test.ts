import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { startGateway, until } from '../testing/gateway.js'
import { closedPort, rawOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { callee, json } from './testing/calling-gateway.js'

const ECHO = [
  ...["{ use: header, with: { response: { set: { x-who: '{{consumer.id}}',"],
  ...["x-lists: '{{consumer.groups}}/{{consumer.scopes}}' } } } }"],
].join(' ')

/** Starts a gateway that introspects the tokens of its one route at `url` and forwards to `target`. */
async function gatewayAsking(t: TestContext, target: string, settings: object, port?: number) {
  const client = { clientId: 'gw', clientSecret: 's', timeout: '20s' }
  const policy = JSON.stringify({ use: 'oauth2-introspection', with: { ...client, ...settings } })
  const text = `version: 1
upstreams: { up: { targets: ['${target}'], timeouts: { connect: 20s, headers: 20s } } }
routes: [{ id: a, upstream: up, policies: [${policy}, ${ECHO}] }]
`
  const { plan } = loadOrThrow(text, catalog)
  const upstreams = [{ urls: [target], name: 'up', maxPending: 2000, pendingTimeoutMs: 60_000 }]
  const options = { catalog, ...(port !== undefined && { port }) }
  const gateway = await startGateway(t, { upstreams, routes: plan.routes }, options)
  const send = (token: string, more: Record<string, string> = {}) =>
    fetch(gateway.url, { headers: { authorization: `Bearer ${token}`, ...more } })
  const codeOf = async (token: string) => (await send(token)).headers.get('x-gw-error')
  return { gateway, send, codeOf }
}

const backend = (t: TestContext) => callee(t, (res) => res.end('from the backend'))
const seconds = (): number => Math.floor(Date.now() / 1000)
const ACTIVE = { active: true, sub: 'ann' }
const INACTIVE = { active: false }

test('the response identifies the consumer, and the upstream does not get the token', async (t) => {
  const up = await backend(t)
  const answer = { ...ACTIVE, scope: 'a b', tenant: 'acme', roles: { in: ['x', 'y'] }, token_type: 'bearer' }
  const server = await callee(t, json(answer))
  const { send } = await gatewayAsking(t, up.url, {
    ...{ url: `${server.url}/check?a=1`, clientId: 'g w', clientSecret: 'a:b%' },
    ...{ requiredScopes: ['a', 'b'], groupsClaim: 'roles.in' },
    ...{ forwardClaims: { tenant: 'x-tenant', none: 'x-none' } },
  })
  const response = await send('t0k.en~+/-_==', { 'x-tenant': 'forged', x_none: 'forged' })
  assert.equal(await response.text(), 'from the backend')
  assert.deepEqual([response.headers.get('x-who'), response.headers.get('x-lists')], ['ann', 'x y/a b'])
  const [{ method, url, headers, body }] = server.calls as [(typeof server.calls)[0]]
  assert.deepEqual(
    [method, url, headers['content-type']],
    ['POST', '/check?a=1', 'application/x-www-form-urlencoded'],
  )
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
    token: 't0k.en~+/-_==',
    token_type_hint: 'access_token',
  })
  assert.equal(headers.authorization, `Basic ${Buffer.from('g+w:a%3Ab%25').toString('base64')}`)
  const sent = up.calls[0]!.headers
  assert.deepEqual(
    [sent.authorization, sent['x-tenant'], sent['x_none'], sent['x-none']],
    [undefined, 'acme', undefined, undefined],
  )
  server.answer = json({ active: true, client_id: 'batch', scope: 'a b' })
  assert.equal((await send('of-a-client')).headers.get('x-who'), 'batch')
})

test('tokens that are not active are refused with an RFC 6750 challenge', async (t) => {
  const up = await backend(t)
  const server = await callee(t, json(INACTIVE))
  const { send, gateway, codeOf } = await gatewayAsking(t, up.url, {
    ...{ url: server.url, realm: 'api', audiences: ['me'], issuers: ['idp'], requiredScopes: ['a'] },
    ...{ requiredClaims: { tenant: ['acme'] }, maxTokenBytes: '1kb' },
  })
  const good = { ...ACTIVE, aud: ['other', 'me'], iss: 'idp', scope: 'a', tenant: 'acme' }
  const answers: readonly (readonly [object, number, string | null])[] = [
    [good, 200, null],
    [INACTIVE, 401, 'GW_TOKEN_INACTIVE'],
    [{ ...good, active: false }, 401, 'GW_TOKEN_INACTIVE'],
    [{ ...good, aud: 'other' }, 401, 'GW_TOKEN_AUDIENCE'],
    [{ ...good, aud: undefined }, 401, 'GW_TOKEN_AUDIENCE'],
    [{ ...good, iss: 'other' }, 401, 'GW_TOKEN_ISSUER'],
    [{ ...good, scope: 'b' }, 403, 'GW_SCOPE_MISSING'],
    [{ ...good, tenant: 'globex' }, 403, 'GW_TOKEN_CLAIMS'],
    [{ ...good, sub: undefined }, 403, 'GW_TOKEN_CLAIMS'],
    [{ ...good, token_type: 'DPoP' }, 403, 'GW_TOKEN_CLAIMS'],
  ]
  for (const [i, [answer, status, code]] of answers.entries()) {
    server.answer = json(answer)
    const response = await send(`token-${i}`)
    assert.deepEqual(
      [response.status, response.headers.get('x-gw-error')],
      [status, code],
      JSON.stringify(answer),
    )
    const challenge = response.headers.get('www-authenticate')
    if (status === 401) assert.match(challenge!, /^Bearer realm="api", error="invalid_token"/)
    if (code === 'GW_SCOPE_MISSING')
      assert.equal(challenge, 'Bearer realm="api", error="insufficient_scope", scope="a"')
  }
  const before = server.calls.length
  const bare = await fetch(gateway.url)
  assert.deepEqual([bare.status, bare.headers.get('www-authenticate')], [401, 'Bearer realm="api"'])
  for (const token of ['a b', 'a&token=b', 'a"b', 'a%00', 'x'.repeat(1025)])
    assert.equal(await codeOf(token), 'GW_TOKEN_MALFORMED', token.slice(0, 20))
  assert.equal(server.calls.length, before, 'nobody was asked')
})

test('without an introspection response requests are refused', async (t) => {
  const up = await backend(t)
  const server = await callee(t, () => {})
  const half = await rawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"active":true,"sub":"a"}'),
    )
  })
  const garbage = await rawOrigin(t, (socket) => socket.end('yes\r\n\r\n'))
  const text =
    (body: string, status = 200) =>
    (res: ServerResponse) =>
      void res.writeHead(status).end(body)
  const answers: Readonly<Record<string, (res: ServerResponse) => void>> = {
    silence: () => {},
    'an error': text('{"active":true,"sub":"a"}', 500),
    'a redirect': (res) => res.writeHead(302, { location: '/' }).end('{"active":true,"sub":"a"}'),
    'the gateway is not known': text('{"error":"invalid_client"}', 401),
    'no content': text('', 204),
    'no JSON': text('<p>active</p>'),
    'a list': text('[{"active":true,"sub":"a"}]'),
    'a text for true': text('{"active":"true","sub":"a"}'),
    'a number for true': text('{"active":1,"sub":"a"}'),
    nothing: text('{}'),
    'two answers': text('{"active":true,"sub":"a","active":true}'),
    'an infinite time': text('{"active":true,"sub":"a","exp":1e999}'),
    'a time as text': text('{"active":true,"sub":"a","exp":"1"}'),
    'a large answer': text(`{"active":true,"sub":"a","x":"${'x'.repeat(70_000)}"}`),
  }
  const refused = async (what: string, url: string): Promise<void> => {
    const timeout = what === 'silence' ? '100ms' : '20s'
    const { send, gateway } = await gatewayAsking(t, up.url, { url, timeout })
    const response = await send('secret-token')
    const seen = ['x-gw-error', 'retry-after'].map((name) => response.headers.get(name))
    assert.deepEqual([response.status, ...seen], [503, 'GW_AUTH_UNAVAILABLE', '1'], what)
    const written = JSON.stringify(gateway.events)
    assert.match(written, /introspection_failed/, what)
    assert.doesNotMatch(written + (await response.text()), /secret-token/, what)
  }
  await refused('nobody there', `http://127.0.0.1:${await closedPort()}`)
  await refused('half an answer', half.url)
  await refused('garbage', garbage.url)
  for (const [what, answer] of Object.entries(answers)) {
    server.answer = answer
    await refused(what, server.url)
  }
  assert.deepEqual(up.calls, [])
})

test('1,000 requests with the same token at once are one call', async (t) => {
  const up = await backend(t)
  const waiting: ServerResponse[] = []
  const server = await callee(t, (res) => void waiting.push(res))
  const { gateway, send } = await gatewayAsking(t, up.url, { url: server.url })
  // Plain sockets: each writes as soon as it is connected. A thousand calls of fetch would keep this process busy for
  // seconds, and the gateway would close connections that have not sent anything yet.
  const request = 'GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer same\r\n\r\n'
  const whole = { waitMs: 60_000, until: (text: string) => text.endsWith('from the backend') }
  const all = Array.from({ length: 1000 }, () => sendRaw(gateway.port, [request], whole))
  const other = send('other')
  await until(() => gateway.plane.inFlight === 1001 && waiting.length === 2)
  for (const res of waiting) json(ACTIVE)(res)
  const statuses = (await Promise.all(all)).flatMap(({ text }) => statusesOf(text))
  assert.deepEqual([statuses.length, ...new Set(statuses)], [1000, 200])
  assert.equal((await other).status, 200)
  assert.equal(server.calls.length, 2)
})

test('responses are cached no longer than the token lives, whatever the clock says', async (t) => {
  const up = await backend(t)
  const server = await callee(t, json(ACTIVE))
  const inactive = json(INACTIVE)
  const callsOf = async (answer: (res: ServerResponse) => void, settings: object = {}): Promise<number> => {
    server.answer = answer
    server.calls.length = 0
    const { send } = await gatewayAsking(t, up.url, { url: server.url, ...settings })
    const statuses = [(await send('t')).status, (await send('t')).status]
    assert.equal(statuses[0], answer === inactive ? 401 : 200)
    assert.equal(statuses[0], statuses[1])
    return server.calls.length
  }
  const ending = (left: number) => json({ ...ACTIVE, exp: seconds() + left })
  assert.equal(await callsOf(json(ACTIVE)), 1)
  assert.equal(await callsOf(inactive), 1)
  assert.equal(await callsOf(json(ACTIVE), { cache: { ttl: '0ms' } }), 2)
  assert.equal(await callsOf(inactive, { cache: { negativeTtl: '0ms' } }), 2)
  assert.equal(await callsOf(ending(600)), 1)
  // The gateway's clock is 10 minutes ahead. The server's answer counts and is not cached.
  assert.equal(await callsOf(ending(-600)), 2)
  assert.equal(await callsOf(ending(0)), 2)
  server.answer = ending(2)
  const cache = { ttl: '1ms', staleIfError: '1h' }
  const { send, codeOf } = await gatewayAsking(t, up.url, { url: server.url, cache })
  assert.equal((await send('t')).status, 200)
  server.answer = (res) => res.writeHead(500).end()
  await until(async () => (await codeOf('t')) === 'GW_TOKEN_EXPIRED')
})

test('known tokens pass during an outage, and the server is used again later', async (t) => {
  const up = await backend(t)
  const server = await callee(t, json(ACTIVE))
  const settings = { url: server.url, breaker: { failures: 3, openFor: '5m' } }
  const cache = { ttl: '1ms', staleIfError: '1h' }
  const { send } = await gatewayAsking(t, up.url, { ...settings, cache })
  const statusOf = async (token: string) => (await send(token)).status
  assert.equal(await statusOf('known'), 200)
  server.answer = (res) => res.writeHead(500).end()
  const before = server.calls.length
  await until(async () => {
    assert.equal(await statusOf('known'), 200)
    return server.calls.length > before
  })
  for (const token of ['a', 'b', 'c', 'd', 'e']) assert.equal(await statusOf(token), 503)
  assert.equal(server.calls.length, before + 3)
  assert.equal(await statusOf('known'), 200)

  const other = await gatewayAsking(t, up.url, {
    ...settings,
    cache,
    breaker: { failures: 1, openFor: '1ms' },
  })
  assert.equal((await other.send('known')).status, 503)
  server.answer = json(ACTIVE)
  await until(async () => (await other.send('known')).status === 200)
  server.answer = json(INACTIVE)
  await until(async () => (await other.send('known')).status === 401)

  // Rejected tokens do not open the circuit breaker.
  const strict = await gatewayAsking(t, up.url, { ...settings, breaker: { failures: 1, openFor: '5m' } })
  server.answer = (res) => res.writeHead(400).end('{"error":"invalid_request"}')
  assert.deepEqual(
    [await strict.codeOf('a.b.c'), await strict.codeOf('d.e.f')],
    Array(2).fill('GW_TOKEN_INACTIVE'),
  )
  // Neither do tokens for which the response is unusable.
  const large = { active: true, sub: 'ann', x: 'x'.repeat(70_000) }
  for (const answer of [large, { active: 'yes' }, { active: true, sub: 1 }]) {
    server.answer = json(answer)
    assert.equal((await strict.send('odd')).status, 503)
  }
  server.answer = (res) => res.writeHead(400).end('{"error":"odd"}')
  assert.equal((await strict.send('odd')).status, 503)
  server.answer = json(ACTIVE)
  assert.equal((await strict.send('good')).status, 200)
})

test('guessed tokens do not evict known ones', async (t) => {
  const up = await backend(t)
  const answer = (res: ServerResponse, _: IncomingMessage): void =>
    json(server.calls.at(-1)!.body.includes('token=good') ? ACTIVE : INACTIVE)(res)
  const server = await callee(t, answer)
  const { send } = await gatewayAsking(t, up.url, {
    url: server.url,
    cache: { maxEntries: 1, scope: 'worker' },
  })
  for (const token of ['good', 'g1', 'g2', 'g1', 'good']) await send(token)
  assert.equal(server.calls.filter(({ body }) => body.includes('token=good')).length, 1)
  assert.equal(server.calls.length, 4)
})

test('a loop through the gateway ends, and configuration errors are reported', async (t) => {
  const up = await backend(t)
  const port = await closedPort()
  const loop = await gatewayAsking(t, up.url, { url: `http://127.0.0.1:${port}/` }, port)
  assert.equal((await loop.send('a')).status, 503)
  const direct = await loop.send('a', { 'x-sluice-hops': '5' })
  assert.deepEqual([direct.status, direct.headers.get('x-gw-error')], [508, 'GW_CALL_LOOP'])
  const url = 'http://127.0.0.1:1/'
  const mistakes: readonly (readonly [object, RegExp])[] = [
    [{ url: 'file:///etc/passwd' }, /not a valid address/],
    [{ url: 'http://user:pass@127.0.0.1/' }, /has a user/],
    [{ url, timeout: '1m' }, /timeout/],
    [{ url, cache: { ttl: '2h' } }, /longer than/],
    [{ url, cache: { staleIfError: '2d' } }, /longer than/],
    [{ url, breaker: { openFor: '1h' } }, /longer than/],
    [{ url, clientAuth: 'private-key-jwt' }, /privateKey/],
    [{ url, requiredScopes: ['a b'] }, /not a valid scope/],
    [{ url, forwardClaims: { sub: 'authorization' } }, /contains the token/],
  ]
  for (const [settings, message] of mistakes) await assert.rejects(gatewayAsking(t, url, settings), message)
})
