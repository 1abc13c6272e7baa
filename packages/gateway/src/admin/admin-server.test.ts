import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AdminRole } from '@sluice/config'
import { renegotiate } from '../listen/testing/certificate-files.js'
import { FAKE_ADMIN } from '../supervise/testing/fake-plan.js'
import { until } from '../supervise/testing/until.js'
import { createOperationLog } from '../telemetry/operation-log.js'
import { AdminServer, type TlsFiles } from './admin-server.js'
import { Authenticator } from './authenticator.js'
import { ENDPOINTS } from './endpoints.js'
import { FAKE_DIGEST, FakeBackend, fakeStatus } from './testing/fake-backend.js'
import { FAKE_CERTIFICATES } from './testing/test-certificate.js'

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const YAML = { 'content-type': 'application/yaml' }
const ROLES: readonly AdminRole[] = ['viewer', 'operator', 'admin']
const hasBody = (method: string): boolean => method === 'PUT' || method === 'POST'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function served(t: TestContext, hasTokens = false, tls: TlsFiles | null = null) {
  const backend = new FakeBackend()
  const logged: string[] = []
  const log = createOperationLog({ write: (line) => logged.push(line) })
  const tokens = hasTokens ? ROLES.map((role) => ({ id: role, sha256: sha256(`${role}-token`), role })) : []
  const authenticator = new Authenticator()
  authenticator.use(tokens)
  const server = new AdminServer({ plan: { ...FAKE_ADMIN, tokens }, tls, backend, authenticator, log })
  await server.listen()
  t.after(() => server.close())
  const ask = (path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: server.port, path, method, headers, agent: false as const }
      const send = tls === null ? httpRequest : httpsRequest
      const request = send({ ...options, rejectUnauthorized: false }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      })
      request.on('error', reject)
      request.end(body)
    })
  return { backend, server, ask, logged }
}

function assertProblem(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.headers['content-type'], 'application/problem+json')
  assert.equal(reply.headers['x-gw-error'], code)
  const problem = JSON.parse(reply.text) as Readonly<Record<string, unknown>>
  assert.deepEqual([problem['code'], problem['status']], [code, status])
  assert.ok(String(problem['detail']).length > 10)
}

/** Adds the required parameters of a path. */
const withQuery = (path: string): string => (path === '/v1/records/explain' ? `${path}?id=r1` : path)

test('every GET responds without caching, and HEAD returns the same head', async (t) => {
  const { ask } = await served(t)
  for (const { method, path } of ENDPOINTS.filter((endpoint) => endpoint.method === 'GET')) {
    const reply = await ask(withQuery(path), { method })
    assert.equal(reply.status, 200, path)
    assert.equal(reply.headers['cache-control'], 'no-store')
    const head = await ask(withQuery(path), { method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''], path)
    assert.equal(head.headers['content-length'], reply.headers['content-length'], path)
  }
})

test('an unknown path is 404 and a wrong method 405 with Allow', async (t) => {
  const { ask } = await served(t)
  for (const path of [
    '/',
    '/v1',
    '/v1/config/',
    '//v1/status',
    '/V1/status',
    '/v1/%73tatus',
    '/constructor',
  ]) {
    assertProblem(await ask(path), 404, 'GW_ADMIN_NOT_FOUND')
  }
  const reply = await ask('/v1/status', { method: 'DELETE' })
  assertProblem(reply, 405, 'GW_ADMIN_METHOD_NOT_ALLOWED')
  assert.equal(reply.headers['allow'], 'GET, HEAD')
  assert.equal((await ask('/v1/rollback')).headers['allow'], 'POST')
})

test('readiness shows the reason when not ready', async (t) => {
  const { ask, backend } = await served(t)
  assert.equal((await ask('/readyz')).status, 200)
  backend.currentStatus = fakeStatus({ ready: false, reason: 'no worker is ready' })
  const reply = await ask('/readyz')
  assertProblem(reply, 503, 'GW_ADMIN_NOT_READY')
  assert.match(reply.text, /no worker is ready/)
  assert.equal((await ask('/healthz')).status, 200)
})

test('endpoints that need a plan respond 503 before the first one', async (t) => {
  const { ask, backend } = await served(t)
  backend.hasPlan = false
  for (const path of ['/v1/plan', '/v1/routes', '/v1/upstreams']) {
    assertProblem(await ask(path), 503, 'GW_ADMIN_NOT_READY')
  }
  assertProblem(await ask('/metrics'), 404, 'GW_ADMIN_NOT_FOUND')
})

test('a document is applied with its note, If-Match and caller', async (t) => {
  const { ask, backend } = await served(t)
  const headers = { ...YAML, 'if-match': `"${FAKE_DIGEST}"` }
  const path = '/v1/config?dryRun=1&note=a%20note'
  const reply = await ask(path, { method: 'PUT', headers, body: 'version: 1' })
  assert.equal(reply.status, 200)
  assert.equal((JSON.parse(reply.text) as { result: string }).result, 'applied')
  const request = { dryRun: true, ifMatch: FAKE_DIGEST, note: 'a note', actor: 'local@127.0.0.1' }
  assert.deepEqual(backend.journal, [{ text: 'version: 1', request }])
})

test('an invalid dryRun value is refused and never deploys', async (t) => {
  const { ask, backend } = await served(t)
  for (const value of ['yes', 'TRUE', '']) {
    const put = { method: 'PUT', headers: YAML, body: 'version: 1' }
    assertProblem(await ask(`/v1/config?dryRun=${value}`, put), 400, 'GW_ADMIN_BAD_REQUEST')
  }
  assert.deepEqual(backend.journal, [])
})

test('each result of a deploy has its status', async (t) => {
  const { ask, backend } = await served(t)
  const put = () => ask('/v1/config', { method: 'PUT', headers: YAML, body: 'version: 1' })
  backend.result = { result: 'invalid', diagnostics: [] }
  assertProblem(await put(), 422, 'GW_ADMIN_DOCUMENT_INVALID')
  backend.result = { result: 'rolled-back', digest: null, reasons: [{ worker: 1, reason: 'no' }] }
  const refused = await put()
  assertProblem(refused, 409, 'GW_ADMIN_ROLLED_BACK')
  assert.match(refused.text, /"result":"rolled-back".*"reason":"no"/)
  backend.result = { result: 'stale', digest: FAKE_DIGEST }
  assertProblem(await put(), 412, 'GW_ADMIN_STALE')
  backend.result = { result: 'busy' }
  const busy = await put()
  assertProblem(busy, 503, 'GW_ADMIN_BUSY')
  assert.equal(busy.headers['retry-after'], '1')
  backend.result = { result: 'draining' }
  assertProblem(await put(), 503, 'GW_ADMIN_NOT_READY')
})

test('a body that is too large, of another type or not UTF-8 is refused and never applied', async (t) => {
  const { ask, backend } = await served(t)
  const put = (body: string | Buffer, headers: Readonly<Record<string, string>> = YAML) =>
    ask('/v1/config', { method: 'PUT', headers, body })
  assertProblem(await put(Buffer.alloc(4 * 1024 * 1024 + 1, 32)), 413, 'GW_ADMIN_BODY_TOO_LARGE')
  assertProblem(await put('a', { 'content-type': 'text/plain' }), 415, 'GW_ADMIN_TYPE_NOT_SUPPORTED')
  assertProblem(await put('a', {}), 415, 'GW_ADMIN_TYPE_NOT_SUPPORTED')
  assertProblem(await put(Buffer.from([0xff, 0xfe])), 400, 'GW_ADMIN_BAD_REQUEST')
  assertProblem(await put('a', { ...YAML, 'if-match': 'abc' }), 400, 'GW_ADMIN_BAD_REQUEST')
  assertProblem(await put('a', { ...YAML, 'if-match': 'W/"abc"' }), 400, 'GW_ADMIN_BAD_REQUEST')
  assert.deepEqual(backend.journal, [])
  assert.equal((await put(Buffer.alloc(4 * 1024 * 1024, 32))).status, 200)
  const types = ['application/json', 'text/yaml', 'Application/YAML; charset=utf-8']
  for (const type of types) assert.equal((await put('{}', { 'content-type': type })).status, 200, type)
})

test('a rollback accepts a deploy id or nothing', async (t) => {
  const { ask, backend } = await served(t)
  const headers = { 'content-type': 'application/json' }
  const post = (body: string) => ask('/v1/rollback', { method: 'POST', headers, body })
  assert.equal((await post('{"to":"7","note":"back"}')).status, 200)
  assert.equal((await post('{}')).status, 200)
  assert.deepEqual(
    backend.journal.map(({ text, request }) => [text, request.note]),
    [
      ['rollback 7', 'back'],
      ['rollback null', ''],
    ],
  )
  assertProblem(await post('{"to":"none"}'), 404, 'GW_ADMIN_NOT_FOUND')
  for (const body of ['[]', '7', '{"to":7}', '{"unknown":1}', '{', 'null', '{"note":1}']) {
    assertProblem(await post(body), 400, 'GW_ADMIN_BAD_REQUEST')
  }
})

const BODIES: Readonly<Record<string, string>> = {
  '/v1/explain': '{"url":"/"}',
  '/v1/session': '{"token":"viewer-token"}',
  '/v1/upstreams/drain': '{"upstream":"up"}',
  '/v1/upstreams/undrain': '{"upstream":"up"}',
  '/v1/cache/purge': '{"all":true}',
  '/v1/config/activate': JSON.stringify({ digest: FAKE_DIGEST }),
  '/v1/config/discard': JSON.stringify({ digest: FAKE_DIGEST }),
  '/v1/limits/reset': '{"policy":"p"}',
  '/v1/bans/lift': '{"policy":"p"}',
  '/v1/quotas/reset': '{"policy":"p"}',
  '/v1/quotas/set': '{"policy":"p","key":"k","used":1}',
}

test('each role can use its own endpoints and no others', async (t) => {
  const { ask, backend } = await served(t, true)
  const rank = (access: string): number => ['open', ...ROLES].indexOf(access)
  for (const role of ROLES) {
    for (const { method, path, access } of ENDPOINTS) {
      const type = path === '/v1/config' ? YAML : { 'content-type': 'application/json' }
      const body = hasBody(method) ? { body: BODIES[path] ?? '{}' } : {}
      const reply = await ask(withQuery(path), {
        method,
        headers: { ...bearer(`${role}-token`), ...type },
        ...body,
      })
      const label = `${role} ${method} ${path}`
      if (rank(role) >= rank(access)) assert.ok(reply.status < 300, label)
      else assertProblem(reply, 403, 'GW_ADMIN_ROLE_MISSING')
    }
  }
  assert.equal(backend.drainedBy, 'admin@127.0.0.1')
  assert.equal(backend.journal[0]?.request.actor, 'admin@127.0.0.1')
})

test('targets are drained by name, and invalid or unknown names are refused', async (t) => {
  const { ask } = await served(t)
  const post = (body: string) =>
    ask('/v1/upstreams/drain', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  assert.equal((await post('{"upstream":"up","target":"http://a:1"}')).status, 200)
  assertProblem(await post('{"upstream":"none"}'), 404, 'GW_ADMIN_NOT_FOUND')
  for (const body of [
    '',
    '[]',
    '{}',
    '{"upstream":1}',
    '{"upstream":"up","target":1}',
    '{"upstream":"up","a":1}',
  ])
    assertProblem(await post(body), 400, 'GW_ADMIN_BAD_REQUEST')
})

test('without a token only health, readiness and the login respond', async (t) => {
  const { ask, backend } = await served(t, true)
  for (const { method, path, access } of ENDPOINTS) {
    const reply = await ask(path, { method, headers: YAML, ...(hasBody(method) ? { body: '{}' } : {}) })
    if (path === '/v1/session' && method === 'POST') assertProblem(reply, 403, 'GW_ADMIN_FORGERY_SUSPECTED')
    else if (access === 'open') assert.equal(reply.status, 200, path)
    else {
      assertProblem(reply, 401, 'GW_ADMIN_AUTH_MISSING')
      assert.match(String(reply.headers['www-authenticate']), /^Bearer /)
    }
  }
  assert.deepEqual([backend.journal, backend.drainedBy], [[], null])
})

test('credentials that are not a known bearer token are refused', async (t) => {
  const { ask } = await served(t, true)
  const codeFor = async (authorization: string) =>
    (await ask('/v1/status', { headers: { authorization } })).headers
  for (const value of ['', 'Basic YTpi', 'Bearer', 'Bearer ', 'admin-token', 'Bearer a b']) {
    assert.equal((await codeFor(value))['x-gw-error'], 'GW_ADMIN_AUTH_MISSING', value)
  }
  assert.equal((await codeFor(`Bearer ${sha256('admin-token')}`))['x-gw-error'], 'GW_ADMIN_AUTH_INVALID')
  assert.equal((await codeFor('bearer admin-token'))['x-gw-error'], undefined)
})

test('wrong tokens lock an address out for further wrong ones, but not for a valid token', async (t) => {
  const { ask } = await served(t, true)
  for (let i = 0; i < 11; i++) {
    assertProblem(await ask('/v1/status', { headers: bearer('wrong') }), 401, 'GW_ADMIN_AUTH_INVALID')
  }
  const reply = await ask('/v1/status', { headers: bearer('wrong') })
  assertProblem(reply, 429, 'GW_ADMIN_LOCKED_OUT')
  assert.ok(Number(reply.headers['retry-after']) >= 1)
  assert.equal((await ask('/v1/status', { headers: bearer('admin-token') })).status, 200)
  assertProblem(
    await ask('/v1/drain', { method: 'POST', headers: bearer('viewer-token') }),
    403,
    'GW_ADMIN_ROLE_MISSING',
  )
  assertProblem(await ask('/v1/status', { headers: bearer('wrong') }), 429, 'GW_ADMIN_LOCKED_OUT')
  assert.equal((await ask('/healthz')).status, 200)
})

test('browsers are refused by Origin and by a foreign Host before anything else', async (t) => {
  const { ask, backend } = await served(t)
  const put = (headers: Readonly<Record<string, string>>) =>
    ask('/v1/config', { method: 'PUT', headers: { ...YAML, ...headers }, body: 'version: 1' })
  assertProblem(await put({ origin: 'http://evil.example' }), 403, 'GW_ADMIN_ORIGIN_REFUSED')
  assertProblem(await put({ host: 'evil.example' }), 403, 'GW_ADMIN_HOST_REFUSED')
  assertProblem(await ask('/healthz', { headers: { host: 'evil.example' } }), 403, 'GW_ADMIN_HOST_REFUSED')
  assert.deepEqual(backend.journal, [])
})

test('no response allows another origin', async (t) => {
  const { ask } = await served(t)
  const headers = { origin: 'null', 'access-control-request-method': 'PUT' }
  for (const reply of [await ask('/v1/status'), await ask('/v1/config', { method: 'OPTIONS', headers })]) {
    const names = Object.keys(reply.headers)
    assert.deepEqual(
      names.filter((name) => name.startsWith('access-control')),
      [],
    )
  }
})

test('a bug in the backend returns 500 without details and is logged', async (t) => {
  const { ask, logged } = await served(t)
  const reply = await ask('/v1/config', { method: 'PUT', headers: YAML, body: 'throw' })
  assertProblem(reply, 500, 'GW_ADMIN_INTERNAL')
  assert.doesNotMatch(reply.text, /a bug of the backend/)
  assert.match(logged.join(''), /a bug of the backend/)
})

test('a refused body is never read as the next request', async (t) => {
  const { server, backend } = await served(t, true)
  const socket = connect(server.port, '127.0.0.1')
  t.after(() => socket.destroy())
  const inner = 'POST /v1/drain HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer admin-token\r\n\r\n'
  const head = `PUT /v1/config HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${inner.length}\r\n\r\n`
  socket.write(head + inner)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
  assert.match(text, /^HTTP\/1\.1 401 /)
  assert.equal(backend.drainedBy, null)
})

/** Points at which a connection stalls, and the bytes sent before. */
const HALF_OPEN: readonly (readonly [string, string])[] = [
  ['before the request', ''],
  ['within the head', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a'],
  [
    'within the body',
    'PUT /v1/config HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/yaml\r\ncontent-length: 9\r\n\r\na',
  ],
  ['after an answer', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
]

for (const [place, bytes] of HALF_OPEN) {
  test(`connections that stall ${place} do not block health checks or metrics`, async (t) => {
    const { ask, server } = await served(t)
    await crowd(t, server.port, bytes)
    for (const path of ['/healthz', '/readyz', '/metrics', '/healthz']) {
      assert.equal((await ask(path)).status, 200, path)
    }
  })
}

test('connections that never finish the TLS handshake do not block health checks', async (t) => {
  const { ask, server } = await served(t, false, tlsFiles())
  await crowd(t, server.port, '')
  for (let i = 0; i < 3; i++) assert.equal((await ask('/healthz')).status, 200)
})

test('the admin API refuses TLS renegotiation', async (t) => {
  const { server } = await served(t, false, tlsFiles())
  for (const isRenewed of [false, true]) {
    if (isRenewed) server.renew(server.plan, tlsFiles())
    assert.deepEqual(await renegotiate(t, server.port), { handshakes: 1, isRefused: true })
  }
})

test('many stalled connections do not evict a deploy in progress', async (t) => {
  const { ask, server, backend } = await served(t)
  let finish: () => void = () => {}
  backend.until = new Promise((resolve) => {
    finish = resolve
  })
  const deploy = ask('/v1/config', { method: 'PUT', headers: YAML, body: 'version: 1' })
  await until(() => backend.journal.length === 1)
  await crowd(t, server.port, '')
  finish()
  assert.equal((await deploy).status, 200)
})

const tlsFiles = (): TlsFiles => {
  const { cert, key } = FAKE_CERTIFICATES.localhost
  return { cert: Buffer.from(cert), key: Buffer.from(key) }
}

/** Opens more connections than the API allows, each of which sends this and then nothing. */
async function crowd(t: TestContext, port: number, bytes: string): Promise<void> {
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let i = 0; i < 600; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(bytes)
  }
}
