import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { Session } from 'node:inspector'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { type CacheServer, startCacheServer } from './start-cache-server.js'
import type { CacheSettings } from './store/settings.js'
import { CACHE_SETTINGS } from './testing/cache-process.js'

interface Running extends CacheServer {
  readonly url: string
  call(method: string, path: string, more?: RequestInit): Promise<Response>
}

async function serve(t: TestContext, settings: Partial<CacheSettings> = {}): Promise<Running> {
  const server = await startCacheServer({ ...CACHE_SETTINGS, ...settings })
  const url = `http://127.0.0.1:${server.port}`
  t.after(async () => {
    server.stop()
    assert.equal(await server.ended, null)
  })
  const call = (method: string, path: string, more: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method, ...more, headers: { connection: 'close', ...more.headers } })
  return { ...server, url, call }
}

const textOf = async (response: Promise<Response>): Promise<string> => (await response).text()

test('a value comes back with its type and entity tag, until it is removed', async (t) => {
  const { call } = await serve(t)
  const headers = { 'content-type': 'application/json' }
  const put = await call('PUT', '/v1/cache/s/a/b%2Fc', { body: '{"a":1}', headers })
  assert.equal(put.status, 204)
  const got = await call('GET', '/v1/cache/s/a%2Fb/c')
  assert.deepEqual(
    [got.status, got.headers.get('content-type'), await got.text()],
    [200, 'application/json', '{"a":1}'],
  )
  const tag = got.headers.get('etag')!
  assert.equal(put.headers.get('etag'), tag)
  const unchanged = await call('GET', '/v1/cache/s/a/b/c', { headers: { 'if-none-match': `"x", W/${tag}` } })
  assert.equal(unchanged.status, 304)
  const head = await call('HEAD', '/v1/cache/s/a/b/c')
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '7'])
  assert.equal((await call('DELETE', '/v1/cache/s/a/b/c')).status, 204)
  assert.equal((await call('DELETE', '/v1/cache/s/a/b/c')).status, 404)
  assert.equal((await call('GET', '/v1/cache/s/a/b/c')).status, 404)
})

test('a server reports itself alive when all of its threads are', async (t) => {
  const { turned } = await serve(t, { workers: 2 })
  await turned()
  const goOn = await hangOneThread(t)
  const first = await Promise.race([turned(), sleep(300, 'one hangs')])
  goOn()
  assert.equal(first, 'one hangs')
  await turned()
})

/** Blocks one of the threads of this process until it is released. */
async function hangOneThread(t: TestContext): Promise<() => void> {
  const file = join(mkdtempSync(join(tmpdir(), 'gw-cache-')), 'loops')
  const goOn = (): void => rmSync(dirname(file), { recursive: true, force: true })
  const fs = "process.getBuiltinModule('fs')"
  const path = JSON.stringify(file)
  const expression = `${fs}.writeFileSync(${path}, ''); while (${fs}.existsSync(${path}));`
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } })
  const session = new Session()
  session.connect()
  t.after(() => session.disconnect())
  session.once('NodeWorker.attachedToWorker', ({ params: { sessionId } }) =>
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message }),
  )
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  await until(() => existsSync(file))
  return goOn
}

test('all threads serve the same entries', async (t) => {
  const { call } = await serve(t, { workers: 3, maxBytes: 64 * 1024 ** 2 })
  for (let i = 0; i < 30; i++) await call('PUT', `/v1/cache/s/${i}`, { body: `v${i}` })
  for (let i = 0; i < 30; i++) assert.equal(await textOf(call('GET', `/v1/cache/s/${i}`)), `v${i}`)
  const metrics = await textOf(call('GET', '/metrics'))
  assert.match(metrics, /sluice_cache_requests_total\{result="hit"\} 30\n/)
  assert.match(metrics, /sluice_cache_entries\{store=""\} 30\n/)
})

test("an entry lives for its ttl or its space's; spaces can have their own stores", async (t) => {
  const spaces = [
    { name: 'short', ttlMs: 1, maxBytes: null },
    { name: 'own', ttlMs: null, maxBytes: 8 * 1024 ** 2 },
  ]
  const { call } = await serve(t, { spaces })
  await call('PUT', '/v1/cache/short/a', { body: 'v' })
  await call('PUT', '/v1/cache/short/b?ttl=1h', { body: 'v' })
  await call('PUT', '/v1/cache/own/a', { body: 'v' })
  await until(async () => (await call('GET', '/v1/cache/short/a')).status === 404)
  assert.equal((await call('GET', '/v1/cache/short/b')).status, 200)
  assert.match(await textOf(call('GET', '/metrics')), /sluice_cache_entries\{store="own"\} 1\n/)
  for (const ttl of ['0s', '-1s', '366d', '99999999999999999999d', 'x', '5', '1h&ttl=1h', '1h&x=1'])
    assert.equal((await call('PUT', `/v1/cache/s/a?ttl=${ttl}`, { body: 'v' })).status, 400, ttl)
})

test('a conditional write stores a value only if it is absent', async (t) => {
  const { call } = await serve(t)
  const headers = { 'if-none-match': '*' }
  assert.equal((await call('PUT', '/v1/cache/s/a', { body: '1', headers })).status, 204)
  assert.equal((await call('PUT', '/v1/cache/s/a', { body: '2', headers })).status, 412)
  assert.equal(await textOf(call('GET', '/v1/cache/s/a')), '1')
})

test('a purge removes a space, a prefix or a tag', async (t) => {
  const { call } = await serve(t)
  const fill = async (): Promise<void> => {
    for (const key of ['a/1', 'a/2', 'b'])
      await call('PUT', `/v1/cache/s/${key}`, { body: 'v', headers: { 'surrogate-key': `all  k${key}` } })
    await call('PUT', '/v1/cache/t/a/1', { body: 'v' })
  }
  const purge = (query: string): Promise<string> => textOf(call('POST', `/v1/cache/s/_purge${query}`))
  await fill()
  assert.equal(await purge('?prefix=a%2F'), '{"removed":2}\n')
  await fill()
  assert.equal(await purge('?tag=ka/1'), '{"removed":1}\n')
  assert.equal(await purge(''), '{"removed":2}\n')
  assert.equal((await call('GET', '/v1/cache/t/a/1')).status, 200)
  assert.equal((await call('POST', '/v1/cache/s/_purge?all=1')).status, 400)
  assert.equal((await call('POST', '/v1/cache/s/a')).status, 405)
})

test('without the token only liveness is available', async (t) => {
  const token = 'a-token-of-some-length'
  const { call } = await serve(t, { token })
  const authorized = { headers: { authorization: `Bearer ${token}` } }
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Basic ${token}`,
  ])
    for (const [method, path] of [
      ['GET', '/v1/cache/s/a'],
      ['PUT', '/v1/cache/s/a'],
      ['POST', '/v1/cache/s/_purge'],
      ['GET', '/metrics'],
    ] as const)
      assert.equal((await call(method, path, { headers: { authorization } })).status, 401)
  assert.equal((await call('GET', '/readyz')).status, 200)
  assert.equal((await call('GET', '/healthz')).status, 200)
  assert.equal((await call('GET', '/v1/cache/s/a', authorized)).status, 404)
  assert.equal((await call('PUT', '/v1/cache/s/a', { ...authorized, body: 'v' })).status, 204)
})

test('on a server without a token, web pages can neither read nor write, even with DNS rebinding', async (t) => {
  const { port, call } = await serve(t)
  assert.equal((await call('PUT', '/v1/cache/s/a', { body: 'v' })).status, 204)
  const status = async (host: string, more = ''): Promise<number | undefined> => {
    const lines = ['GET /v1/cache/s/a HTTP/1.1', `host: ${host}`, ...(more === '' ? [] : [more])]
    const { text } = await sendRaw(port, [`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`])
    return statusesOf(text)[0]
  }
  for (const host of ['localhost', `localhost:${port}`, '127.0.0.1', '[::1]:1'])
    assert.equal(await status(host), 200, host)
  for (const host of ['page.test', `page.test:${port}`, 'localhost.page.test'])
    assert.equal(await status(host), 403, host)
  assert.equal(await status('localhost', 'origin: http://page.test'), 403)
  assert.equal(await status('localhost', 'origin: null'), 403)
  const purged = await call('POST', '/v1/cache/s/_purge', { headers: { origin: 'http://page.test' } })
  assert.equal(purged.status, 403)
  assert.equal(await status('localhost'), 200)
})

test('keys are bytes, decoded once, and cannot escape their space', async (t) => {
  const { port } = await serve(t)
  const status = async (method: string, path: string): Promise<number | undefined> =>
    statusesOf(
      (
        await sendRaw(port, [
          `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        ])
      ).text,
    )[0]
  assert.equal(await status('PUT', '/v1/cache/s/%01%ff%2501'), 204)
  assert.equal(await status('GET', '/v1/cache/s/%01%FF%2501'), 200)
  assert.equal(await status('GET', '/v1/cache/s/%01%ff%01'), 404)
  assert.equal(await status('PUT', '/v1/cache/t/x'), 204)
  for (const path of [
    '/v1/cache/s/../t/x',
    '/v1/cache/s/..%2ft/x',
    '/v1/cache/s/a/%2e%2e/x',
    '/v1/cache/../x',
    '/v1/cache/s/%2',
    '/v1/cache/s/%00',
    '/v1/cache/s/%zz',
    '/v1/cache/s/',
    '/v1/cache/s%2fa/x',
    `/v1/cache/s/${'a'.repeat(1025)}`,
    '/v1/cache//x',
    '/V1/cache/t/x',
    `/v1/cache/${'s'.repeat(65)}/x`,
  ])
    assert.match(String(await status('GET', path)), /^40[04]$/, path)
})

test('a value over the limit is refused, with or without Content-Length, and not stored', async (t) => {
  const { port, call } = await serve(t)
  const over = CACHE_SETTINGS.maxObjectBytes + 1
  assert.equal((await call('PUT', '/v1/cache/s/a', { body: Buffer.alloc(over) })).status, 413)
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
  const head = 'PUT /v1/cache/s/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const endless = await sendRaw(port, [head, ...Array<string>(9).fill(chunk)])
  assert.deepEqual(statusesOf(endless.text), [413])
  // The server keeps reading for a while, so that the client gets the response (RFC 9112 section 9.6).
  assert.match(endless.text, /^connection: close\r$/im)
  const twofold = await sendRaw(port, [head.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n')])
  assert.deepEqual([statusesOf(twofold.text), twofold.isClosed], [[400], true])
  assert.equal((await call('GET', '/v1/cache/s/a')).status, 404)
  assert.equal((await call('PUT', '/v1/cache/s/a', { body: Buffer.alloc(over - 1, 'y') })).status, 204)
  const whole = Buffer.from(await (await call('GET', '/v1/cache/s/a')).arrayBuffer())
  assert.deepEqual(whole, Buffer.alloc(over - 1, 'y'))
})

test('an aborted upload keeps the previous value', async (t) => {
  const { port, call } = await serve(t)
  await call('PUT', '/v1/cache/s/a', { body: 'old' })
  const upload = await connectRaw(t, port)
  upload.send('PUT /v1/cache/s/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345')
  assert.equal(await textOf(call('GET', '/v1/cache/s/a')), 'old')
  upload.reset()
  assert.equal(await textOf(call('GET', '/v1/cache/s/a')), 'old')
})

test('pipelined requests are answered one at a time or closed, never mixed up', async (t) => {
  const { port, call } = await serve(t)
  await call('PUT', '/v1/cache/s/a', { body: 'AAA' })
  await call('PUT', '/v1/cache/s/b', { body: 'BBB' })
  const get = (key: string): string => `GET /v1/cache/s/${key} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const { text } = await sendRaw(port, [get('a') + get('b') + get('a')])
  const bodies = [...text.matchAll(/\r\n\r\n([AB]{3})/g)].map((match) => match[1])
  assert.deepEqual(bodies, ['AAA', 'BBB', 'AAA'].slice(0, bodies.length))
})

test('a stopping server answers requests in flight and then closes', async (t) => {
  const server = await startCacheServer(CACHE_SETTINGS)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ask = (path: string): Promise<{ status: number; connection: string }> =>
    new Promise((resolve, reject) => {
      request({ port: server.port, host: '127.0.0.1', path, agent }, (response) => {
        response.resume()
        response.on('end', () =>
          resolve({ status: response.statusCode!, connection: response.headers.connection! }),
        )
      })
        .on('error', reject)
        .end()
    })
  assert.equal((await ask('/readyz')).status, 200)
  const started = performance.now()
  server.stop()
  await until(
    async () => (await ask('/readyz').catch(() => ({ connection: 'close' }))).connection === 'close',
  )
  assert.equal(await server.ended, null)
  assert.ok(performance.now() - started < 10_000)
})

test('an address in use by another server is not shared', async (t) => {
  const port = await closedPort()
  const other = createServer().listen(port, '127.0.0.1')
  t.after(() => other.close())
  await assert.rejects(startCacheServer({ ...CACHE_SETTINGS, port }), /EADDRINUSE/)
})
