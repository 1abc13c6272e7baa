import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { Plan } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'

import { keyPair } from '@sluice/core/testing'
import { catalog } from '@sluice/policies'
import { startGateway, type TestGateway, until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'

const SECRET = 'the-secret-of-the-gateway'

/** Starts a gateway with one route that authenticates to a target. */
async function gatewayTo(
  t: TestContext,
  targets: readonly string[],
  ways: readonly object[],
): Promise<TestGateway> {
  const upstreams = [
    { urls: targets, name: 'up', connections: 64, maxPending: 2000, pendingTimeoutMs: 300_000 },
  ]
  return startGateway(t, { upstreams, routes: planOf(targets, ways).routes }, { catalog })
}

function planOf(targets: readonly string[], ways: readonly object[]): Plan {
  const policies = ways.map((way) => ({ use: 'backend-auth', with: way }))
  const text = `version: 1
upstreams: { up: { targets: ${JSON.stringify(targets)}, timeouts: { connect: 5m, headers: 5m, idle: 5m, total: 0s } } }
routes: [{ id: a, upstream: up, policies: ${JSON.stringify(policies)} }]
`
  return loadOrThrow(text, catalog).plan
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Starts a backend that accepts the given tokens. */
async function guardedBackend(t: TestContext) {
  const accepted = new Set<string>()
  const seen: string[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const body = await bodyOf(req)
    const token = req.headers.authorization ?? ''
    seen.push(`${token} ${body.length}`)
    if (accepted.has(token)) res.end('welcome')
    else res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('who are you?')
  })
  return { url: origin.url, accepted, seen }
}

/** Starts an authorization server that issues `t1`, `t2`, …, or responds as the test says. */
async function tokenServer(t: TestContext) {
  const calls: { form: URLSearchParams; authorization: string | undefined }[] = []
  const server = { calls, url: '', answer: null as ((res: ServerResponse) => void) | null }
  const origin = await httpOrigin(t, async (req, res) => {
    const form = new URLSearchParams(await bodyOf(req))
    calls.push({ form, authorization: req.headers.authorization })
    if (server.answer !== null) server.answer(res)
    else res.end(JSON.stringify({ access_token: `t${calls.length}`, token_type: 'bearer', expires_in: 3600 }))
  })
  server.url = `${origin.url}/token`
  return server
}

const client = (tokenUrl: string, more: object = {}) => ({
  oauth2: { tokenUrl, clientId: 'sluice', clientSecret: SECRET, timeout: '20s', ...more },
})

test('fixed credentials replace those of the client, in every location', async (t) => {
  const seen: (string | undefined)[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers.authorization, req.headers['x-key'] as string, req.url)
    res.end()
  })
  const send = async (way: object): Promise<(string | undefined)[]> => {
    const gateway = await gatewayTo(t, [origin.url], [way])
    const headers = { authorization: 'Bearer of-the-client', 'x-key': 'forged' }
    await fetch(`${gateway.url}/a?k%65y=forged&b=1&key=2`, { headers })
    return seen.splice(0)
  }
  const url = '/a?k%65y=forged&b=1&key=2'
  const basic = `Basic ${Buffer.from('me:p:ä').toString('base64')}`
  assert.deepEqual(await send({ basic: { username: 'me', password: 'p:ä' } }), [basic, 'forged', url])
  assert.deepEqual(await send({ bearer: { token: 'abc' } }), ['Bearer abc', 'forged', url])
  const header = { apiKey: { in: 'header', name: 'X-Key', value: 'k 1' } }
  assert.deepEqual(await send(header), [undefined, 'k 1', url])
  assert.deepEqual(await send({ ...header, passThrough: true }), ['Bearer of-the-client', 'k 1', url])
  const query = { apiKey: { in: 'query', name: 'key', value: 'a&b' } }
  assert.deepEqual(await send(query), [undefined, 'forged', '/a?b=1&key=a%26b'])
})

test('100 concurrent requests without a token share one token request', async (t) => {
  const backend = await guardedBackend(t)
  backend.accepted.add('Bearer t1')
  const server = await tokenServer(t)
  const waiting: ServerResponse[] = []
  server.answer = (res) => void waiting.push(res)
  const gateway = await gatewayTo(
    t,
    [backend.url],
    [client(server.url, { scopes: ['a', 'b'], parameters: { tenant: 'acme' } })],
  )
  const all = Array.from({ length: 100 }, async () => (await fetch(gateway.url)).status)
  await until(() => gateway.plane.inFlight === 100)
  await until(() => waiting.length > 0)
  waiting[0]!.end(JSON.stringify({ access_token: 't1', expires_in: 60 }))
  assert.deepEqual([...new Set(await Promise.all(all))], [200])
  assert.equal(server.calls.length, 1)
  const { form, authorization } = server.calls[0]!
  assert.equal(form.toString(), 'grant_type=client_credentials&scope=a+b&tenant=acme')
  assert.equal(authorization, `Basic ${Buffer.from(`sluice:${SECRET}`).toString('base64')}`)
})

test('a refused token is replaced once, and the request is retried if its body is buffered', async (t) => {
  const backend = await guardedBackend(t)
  backend.accepted.add('Bearer t1')
  const server = await tokenServer(t)
  const gateway = await gatewayTo(t, [backend.url], [client(server.url)])
  const send = async (body?: string | ReadableStream): Promise<number> => {
    const options = body === undefined ? {} : { method: 'POST', body, duplex: 'half' as const }
    const response = await fetch(gateway.url, options)
    await response.arrayBuffer()
    return response.status
  }
  assert.equal(await send(), 200)
  backend.accepted.clear()
  backend.accepted.add('Bearer t2')
  backend.seen.length = 0
  // Larger than `limits.bodyBufferBytes`, so the body is gone when the response arrives.
  assert.equal(await send('x'.repeat(200_000)), 401)
  assert.equal(server.calls.length, 1)
  assert.deepEqual(await Promise.all([send('four'), send(), send('four')]), [200, 200, 200])
  assert.equal(server.calls.length, 2)
  assert.ok(backend.seen.includes('Bearer t2 4'))
  // A backend that accepts no token at all does not cause endless retries or token requests.
  backend.accepted.clear()
  backend.seen.length = 0
  assert.equal(await send(), 401)
  assert.deepEqual([backend.seen.length, server.calls.length], [1, 2])
})

test('no request reaches the backend without a token, whatever the token endpoint does', async (t) => {
  const backend = await guardedBackend(t)
  const server = await tokenServer(t)
  const half = await rawOrigin(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"access_token":"t'))
  })
  const answers: Readonly<Record<string, (res: ServerResponse) => void>> = {
    silence: () => {},
    garbage: (res) => res.end('<html>'),
    refusal: (res) => res.writeHead(400).end('{"error":"invalid_client","error_description":"secret"}'),
    redirect: (res) => res.writeHead(302, { location: backend.url }).end(),
    'a token that breaks lines': (res) => res.end('{"access_token":"a\\r\\nx-admin: 1"}'),
    'a token that has ended': (res) => res.end('{"access_token":"a","expires_in":0}'),
    'a token of another kind': (res) => res.end('{"access_token":"a","token_type":"mac"}'),
    'an endless token': (res) => res.end(JSON.stringify({ access_token: 'a'.repeat(70_000) })),
  }
  const refused = async (what: string, tokenUrl: string): Promise<void> => {
    const timeout = what === 'silence' ? '100ms' : '20s'
    const gateway = await gatewayTo(t, [backend.url], [client(tokenUrl, { timeout })])
    const response = await fetch(gateway.url)
    const text = await response.text()
    assert.deepEqual(
      [response.status, response.headers.get('x-gw-error')],
      [503, 'GW_UPSTREAM_CREDENTIALS'],
      what,
    )
    assert.equal(response.headers.get('retry-after'), '1', what)
    const before = server.calls.length
    assert.equal((await fetch(gateway.url)).status, 503, what)
    assert.equal(server.calls.length, before, `${what}: asked again at once`)
    const events = JSON.stringify(gateway.events)
    assert.match(events, /backend_token_failed/, what)
    assert.doesNotMatch(text + events, new RegExp(`${SECRET}|description|x-admin`), what)
  }
  await refused('nobody there', `http://127.0.0.1:${await closedPort()}/token`)
  await refused('half an answer', half.url)
  for (const [what, answer] of Object.entries(answers)) {
    server.answer = answer
    await refused(what, server.url)
  }
  assert.deepEqual(backend.seen, [])
})

test('the client authenticates with a signed assertion, and tokens survive a reload', async (t) => {
  const backend = await guardedBackend(t)
  backend.accepted.add('Bearer t1')
  const server = await tokenServer(t)
  const { privateKey } = keyPair('ec', { namedCurve: 'P-256' })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const way = { clientAuth: 'private-key-jwt', privateKey: pem, keyId: 'k1' }
  const ways = [{ oauth2: { tokenUrl: server.url, clientId: 'sluice', timeout: '20s', ...way } }]
  const gateway = await gatewayTo(t, [backend.url], ways)
  assert.equal((await fetch(gateway.url)).status, 200)
  const { form, authorization } = server.calls[0]!
  assert.equal(authorization, undefined)
  const [header = '', claims = ''] = form.get('client_assertion')!.split('.')
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    alg: 'ES256',
    typ: 'JWT',
    kid: 'k1',
  })
  const { iss, sub, aud } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  assert.deepEqual([iss, sub, aud], ['sluice', 'sluice', server.url])
  await gateway.reload({ upstreams: [{ urls: [backend.url] }], routes: planOf([backend.url], ways).routes })
  assert.equal((await fetch(gateway.url)).status, 200)
  assert.equal(server.calls.length, 1)
})

test('each attempt is signed for its target, and no client headers are signed', async (t) => {
  const seen: string[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    seen.push(awsVerdict(req, await bodyOf(req)))
    res.end()
  })
  const dead = `http://127.0.0.1:${await closedPort()}`
  const awsSigV4 = { region: 'eu-central-1', service: 's3', accessKeyId: 'AKID', secretAccessKey: SECRET }
  const gateway = await gatewayTo(t, [dead, origin.url], [{ awsSigV4 }])
  const headers = {
    'x-amz-date': '19990101T000000Z',
    'x-amz-security-token': 'forged',
    authorization: 'AWS4 x',
  }
  for (const [path, body] of [
    ['/a/b?c=%20d&a=1', 'text'],
    ['/%C3%A4%20b', ''],
    ['/b', 'x'.repeat(300_000)],
  ]) {
    const options = body === '' ? { headers } : { method: 'PUT', headers, body: body! }
    assert.equal((await fetch(gateway.url + path, options)).status, 200)
  }
  assert.deepEqual(seen, ['right', 'right', 'right'])
})

/** Verifies Signature Version 4 like an S3-compatible service, as far as these tests need it. */
function awsVerdict(req: IncomingMessage, body: string): string {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const [, scope = '', names = '', signature = ''] =
    /Credential=AKID\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(req.headers.authorization ?? '') ??
    []
  if (req.headers['x-amz-security-token'] !== undefined) return 'a token of the client'
  const [path = '', query = ''] = (req.url ?? '').split('?')
  const fields = names.split(';').map((name) => `${name}:${String(req.headers[name])}\n`)
  const sorted = query.split('&').sort().join('&')
  const canonical = [req.method, path, sorted, fields.join(''), names, sha256(body)].join('\n')
  const date = String(req.headers['x-amz-date'])
  const [day = '', region = '', service = ''] = scope.split('/')
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${SECRET}`, day))
  if (req.headers['x-amz-content-sha256'] !== sha256(body)) return 'another body'
  return hmac(key as Buffer, text).toString('hex') === signature ? 'right' : `wrong: ${canonical}`
}

test('invalid credentials are configuration errors that do not reveal them', async (t) => {
  const mistakes: readonly (readonly [object, RegExp])[] = [
    [{ basic: { username: 'a:b', password: SECRET } }, /colon/],
    [{ bearer: { token: `${SECRET}\n` } }, /not allowed in a header/],
    [{ bearer: { token: SECRET }, basic: { username: 'a', password: SECRET } }, /only one is allowed/],
    [{ apiKey: { in: 'header', name: 'host', value: SECRET } }, /host/],
    [client('ftp://a', {}), /not a valid address/],
    [client(`http://a:${SECRET}@b/`), /user or a fragment/],
    [client('http://127.0.0.1:1/', { parameters: { scope: 'x' } }), /use the option for it/],
    [client('http://127.0.0.1:1/', { clientAuth: 'private-key-jwt' }), /privateKey/],
    [client('http://127.0.0.1:1/', { clientAuth: 'tls', tls: {} }), /needs 'tls.certFile'/],
    [client('http://127.0.0.1:1/', { timeout: '1h' }), /between 1ms and 20s/],
  ]
  for (const [way, message] of mistakes) {
    const error = await gatewayTo(t, ['http://127.0.0.1:1'], [way]).then(
      () => 'it compiles',
      (problem: Error) => problem.message,
    )
    assert.match(error, message)
    assert.ok(!error.includes(SECRET), error)
  }
})
