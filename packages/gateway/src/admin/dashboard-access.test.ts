import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type TestContext, test } from 'node:test'
import type { AdminRole } from '@sluice/config'
import { FAKE_ADMIN } from '../supervise/testing/fake-plan.js'
import { createOperationLog } from '../telemetry/operation-log.js'
import { AdminServer, type TlsFiles } from './admin-server.js'
import { Authenticator } from './authenticator.js'
import { FakeBackend } from './testing/fake-backend.js'
import { FAKE_CERTIFICATES } from './testing/test-certificate.js'

// Attacks on the dashboard: its files, its sessions, and requests that other sites make a browser send.

interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const ROLES: readonly AdminRole[] = ['viewer', 'operator', 'admin']
const UI = { 'x-sluice-ui': '1', 'content-type': 'application/json' }
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const tokensOf = (roles: readonly AdminRole[]) =>
  roles.map((role) => ({ id: role, sha256: sha256(`${role}-token`), role }))

async function served(
  t: TestContext,
  {
    roles = ROLES,
    tls = null,
    ui,
  }: { roles?: readonly AdminRole[]; tls?: TlsFiles | null; ui?: boolean } = {},
) {
  const backend = new FakeBackend()
  const authenticator = new Authenticator()
  authenticator.use(tokensOf(roles))
  const plan = { ...FAKE_ADMIN, tokens: tokensOf(roles), ...(ui === undefined ? {} : { ui }) }
  const server = new AdminServer({
    plan,
    tls,
    backend,
    authenticator,
    log: createOperationLog({ write: () => {} }),
  })
  await server.listen()
  t.after(() => server.close())
  const ask = (path: string, { method = 'GET', headers = {}, body }: Ask = {}) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const send = tls === null ? httpRequest : httpsRequest
      const options = { host: '127.0.0.1', port: server.port, path, method, headers, agent: false as const }
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
  const logIn = (role: AdminRole, headers: Readonly<Record<string, string>> = {}) =>
    ask('/v1/session', { method: 'POST', headers: { ...UI, ...headers }, body: `{"token":"${role}-token"}` })
  const cookieFor = async (role: AdminRole): Promise<string> => cookieIn((await logIn(role)).headers)
  return { ask, logIn, cookieFor, authenticator, backend, origin: `http://127.0.0.1:${server.port}` }
}

function cookieIn(headers: IncomingHttpHeaders): string {
  return headers['set-cookie']![0]!.split(';')[0]!
}

const DRAIN = { method: 'POST', body: '{"upstream":"up"}' }

test('the files of the dashboard need no token and hold strict headers', async (t) => {
  const { ask } = await served(t)
  assert.equal((await ask('/ui')).headers.location, '/ui/')
  const page = await ask('/ui/')
  assert.equal(page.status, 200)
  assert.equal(page.headers['cache-control'], 'no-cache')
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/)
  assert.doesNotMatch(policy, /unsafe|\*/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.equal(page.headers['x-frame-options'], 'DENY')
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  assert.doesNotMatch(page.text, /<script>|<style|style=|\son\w+=/)
  let bytes = page.text.length
  for (const [, name] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    const file = await ask(`/ui/${name}`)
    assert.equal(file.status, 200, name)
    assert.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable')
    const again = await ask(`/ui/${name}`, { headers: { 'if-none-match': file.headers.etag! } })
    assert.deepEqual([again.status, again.text], [304, ''])
    bytes += file.text.length
  }
  assert.ok(bytes < 200_000, `${bytes} bytes`)
})

test('paths below /ui lead to no other file', async (t) => {
  const { ask } = await served(t)
  for (const path of [
    '/ui/../package.json',
    '/ui/..%2fpackage.json',
    '/ui/%2e%2e/%2e%2e/package.json',
    '/ui//etc/passwd',
    '/ui/..\\package.json',
    '/ui/index.html',
    '/ui/__proto__',
    '/ui/constructor',
  ])
    assert.equal((await ask(path)).status, 404, path)
  assert.equal((await ask('/ui/', { method: 'POST' })).status, 405)
})

test('admin.ui: false removes the dashboard and its sessions', async (t) => {
  const { ask, logIn, origin } = await served(t, { ui: false })
  assert.equal((await ask('/ui/')).status, 404)
  assert.equal((await logIn('admin')).status, 404)
  assert.equal((await logIn('admin', { origin })).status, 403)
})

test('a login sets a strict cookie, and the role of the token decides', async (t) => {
  const { ask, logIn } = await served(t)
  const reply = await logIn('viewer')
  assert.deepEqual(JSON.parse(reply.text), { name: 'viewer', role: 'viewer', isLoginRequired: true })
  assert.match(
    reply.headers['set-cookie']![0]!,
    /^sluice-session-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  const cookie = cookieIn(reply.headers)
  assert.equal((await ask('/v1/status', { headers: { cookie } })).status, 200)
  assert.equal((await ask('/v1/upstreams/drain', { ...DRAIN, headers: { ...UI, cookie } })).status, 403)
})

test('with TLS the cookie is Secure and tied to the host', async (t) => {
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const { logIn } = await served(t, { tls: { cert: Buffer.from(cert), key: Buffer.from(key) } })
  assert.match((await logIn('admin')).headers['set-cookie']![0]!, /^__Host-sluice-session-.*; Secure$/)
})

test('without a session, or with an invented one, nothing is shown', async (t) => {
  const { ask, cookieFor } = await served(t)
  const [name] = (await cookieFor('admin')).split('=')
  const invented = 'A'.repeat(43)
  for (const cookie of ['', `${name}=`, `${name}=${invented}`, `${name}=__proto__`, `other=${invented}`]) {
    assert.equal((await ask('/v1/status', { headers: { cookie } })).status, 401, cookie)
  }
})

test('a session does not survive a second login, a logout, or the removal of its token', async (t) => {
  const { ask, logIn, cookieFor, authenticator } = await served(t)
  const statusWith = async (cookie: string) => (await ask('/v1/status', { headers: { cookie } })).status
  const first = await cookieFor('admin')
  const second = cookieIn((await logIn('admin', { cookie: first })).headers)
  assert.notEqual(second, first)
  assert.deepEqual([await statusWith(first), await statusWith(second)], [401, 200])
  const left = await ask('/v1/session', { method: 'DELETE', headers: { ...UI, cookie: second } })
  assert.match(left.headers['set-cookie']![0]!, /=; Path=\/; Max-Age=0/)
  assert.equal(await statusWith(second), 401)
  const third = await cookieFor('operator')
  authenticator.use(tokensOf(['admin']))
  assert.equal(await statusWith(third), 401)
})

test('a session id that an attacker has chosen is never taken over', async (t) => {
  const { ask, logIn, cookieFor } = await served(t)
  const [name] = (await cookieFor('admin')).split('=')
  const planted = `${name}=${'B'.repeat(43)}`
  assert.notEqual(cookieIn((await logIn('admin', { cookie: planted })).headers), planted)
  assert.equal((await ask('/v1/status', { headers: { cookie: planted } })).status, 401)
  // Two cookies of the name: one of them was set by someone else.
  const both = `${planted}; ${await cookieFor('admin')}`
  assert.equal((await ask('/v1/status', { headers: { cookie: both } })).status, 401)
})

test('a change that another site made the browser send is refused', async (t) => {
  const { ask, logIn, cookieFor, origin } = await served(t)
  const cookie = await cookieFor('operator')
  const drainWith = async (headers: Readonly<Record<string, string>>) =>
    (
      await ask('/v1/upstreams/drain', {
        ...DRAIN,
        headers: { 'content-type': 'application/json', cookie, ...headers },
      })
    ).status
  assert.equal(await drainWith({ 'x-sluice-ui': '1', origin, 'sec-fetch-site': 'same-origin' }), 200)
  assert.equal(await drainWith({}), 403)
  assert.equal(await drainWith({ origin }), 403)
  assert.equal(await drainWith({ 'x-sluice-ui': '0', origin }), 403)
  for (const other of [
    'http://evil.example',
    'null',
    'http://127.0.0.1:1',
    origin.replace('http:', 'https:'),
  ])
    assert.equal(await drainWith({ 'x-sluice-ui': '1', origin: other }), 403, other)
  for (const site of ['cross-site', 'same-site'])
    assert.equal(await drainWith({ 'x-sluice-ui': '1', 'sec-fetch-site': site }), 403, site)
  // Also the login itself.
  assert.equal((await logIn('admin', { 'x-sluice-ui': '' })).status, 403)
  assert.equal((await logIn('admin', { origin: 'http://evil.example' })).status, 403)
})

test('a foreign name for the host is refused, also with its own origin', async (t) => {
  const { ask, cookieFor } = await served(t)
  const headers = { host: 'evil.example', origin: 'http://evil.example', cookie: await cookieFor('admin') }
  for (const path of ['/ui/', '/v1/status']) assert.equal((await ask(path, { headers })).status, 403, path)
})

test('header injection through the host or the token reaches no response header', async (t) => {
  const { ask, logIn } = await served(t)
  for (const host of ['127.0.0.1:1;a=b', '127.0.0.1:99999999', '127.0.0.1 x'])
    assert.equal((await logIn('admin', { host })).status, 403, host)
  const body = JSON.stringify({ token: 'x\r\nset-cookie: a=b' })
  const reply = await ask('/v1/session', { method: 'POST', headers: UI, body })
  assert.equal(reply.status, 401)
  assert.equal(reply.headers['set-cookie'], undefined)
})

test('guessing tokens at the login locks the address out', async (t) => {
  const { ask, logIn } = await served(t)
  const guess = () => ask('/v1/session', { method: 'POST', headers: UI, body: '{"token":"wrong"}' })
  for (let i = 0; i <= 10; i++) assert.equal((await guess()).status, 401)
  assert.equal((await guess()).status, 429)
  assert.equal((await logIn('admin')).status, 200)
})

test('without tokens no login is needed, and other sites still change nothing', async (t) => {
  const { ask, origin } = await served(t, { roles: [] })
  assert.equal(JSON.parse((await ask('/v1/session')).text).isLoginRequired, false)
  const drainWith = async (headers: Readonly<Record<string, string>>) =>
    (await ask('/v1/upstreams/drain', { ...DRAIN, headers: { ...UI, ...headers } })).status
  assert.equal(await drainWith({ origin }), 200)
  assert.equal(await drainWith({ origin: 'http://localhost:3000' }), 403)
})
