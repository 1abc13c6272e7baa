import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { keysOf } from '../../document-keys/testing/key-tests.js'
import { RedisServer, redisSkip } from '../../state/testing/redis-server.js'
import { closedPort } from '../../testing/origin.js'
import { fakeDocument, GatewayProcess, isAlive, testDirectory } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'

const TOKEN = 'the-token-of-the-cache'

/** A gateway whose document has a cache server, and calls to that server. */
class Serving {
  readonly gateway: GatewayProcess
  readonly port: number

  constructor(gateway: GatewayProcess, port: number) {
    this.gateway = gateway
    this.port = port
  }

  static async start(t: TestContext, serve: object = {}, more: object = {}): Promise<Serving> {
    const port = await closedPort()
    const document = documentOf({ listen: `127.0.0.1:${port}`, ...serve }, more)
    return new Serving(await new GatewayProcess(t, { document, workers: 1 }).started(), port)
  }

  /** Deploys a document with other settings and returns the result. */
  async deploy(serve: object | null, more: object = {}, route = 'first'): Promise<string> {
    const whole = serve === null ? null : { listen: `127.0.0.1:${this.port}`, ...serve }
    return (await this.gateway.put(documentOf(whole, more, route))).text()
  }

  call(method: string, path: string, more: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      ...more,
      headers: { connection: 'close', ...more.headers },
    })
  }

  /** Returns the status of the response; 0 if there was none. */
  async status(method: string, path: string, more: RequestInit = {}): Promise<number> {
    return this.call(method, path, more).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
  }

  async put(path: string, body = 'v'): Promise<number> {
    return this.status('PUT', `/v1/cache/${path}`, { body })
  }

  async get(path: string): Promise<number> {
    return this.status('GET', `/v1/cache/${path}`)
  }

  async pid(): Promise<number> {
    return until(async () => (await this.gateway.status()).cacheServer?.pid ?? null)
  }
}

function documentOf(serve: object | null, more: object = {}, route = 'first'): string {
  return fakeDocument(route, serve === null ? '' : `cache: ${JSON.stringify({ serve, ...more })}`)
}

const threadsOf = (pid: number): number => readdirSync(`/proc/${pid}/task`).length

test('every key of cache.serve takes effect, and the server ends with its supervisor', async (t) => {
  const spaces = { short: { ttl: '1ms' }, own: { maxBytes: '8mb' } }
  const sizes = { maxBytes: '8mb', maxObjectBytes: '900kb' }
  const serving = await Serving.start(t, { workers: 3, ...sizes, spaces })
  const { gateway, port } = serving
  const { cacheServer } = await gateway.status()
  assert.deepEqual([cacheServer?.host, cacheServer?.port, cacheServer?.state], ['127.0.0.1', port, 'ready'])
  const threads = threadsOf(await serving.pid())
  const whole = 900 * 1024
  assert.equal(await serving.put('s/a', 'x'.repeat(whole + 1)), 413)
  assert.equal(await serving.put('own/a', 'y'), 204)
  for (let i = 0; i < 12; i++) assert.equal(await serving.put(`s/${i}`, 'x'.repeat(whole)), 204)
  assert.deepEqual([await serving.get('s/0'), await serving.get('s/11')], [404, 200])
  assert.equal(await serving.get('own/a'), 200)
  assert.match(await (await serving.call('GET', '/metrics')).text(), /entries\{store="own"\} 1\n/)
  await serving.put('short/a')
  await until(async () => (await serving.get('short/a')) === 404)

  await serving.deploy({ connections: 1, ttl: '1ms' })
  assert.ok(threads > threadsOf(await serving.pid()))
  await serving.put('s/a')
  await until(async () => (await serving.get('s/a')) === 404)
  await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
  assert.equal(await serving.get('s/a'), 503)

  const [certFile, keyFile] = [join(gateway.dir, 'cert.pem'), join(gateway.dir, 'key.pem')]
  writeFileSync(certFile, FAKE_CERTIFICATES.localhost.cert)
  writeFileSync(keyFile, FAKE_CERTIFICATES.localhost.key)
  await serving.deploy({ tls: { certFile, keyFile } }, { url: `https://localhost:${port}` })
  assert.equal(await httpsStatus(port), 200)

  const pid = await serving.pid()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
  assert.equal(await httpsStatus(port), 200, 'signals that a whole group gets are for the supervisor')
  gateway.signal('SIGKILL')
  await until(() => !isAlive(pid))

  const shown = [
    'connections',
    'listen',
    'maxBytes',
    'maxObjectBytes',
    'persist',
    'spaces',
    'tls',
    'ttl',
    'workers',
  ]
  const keys = keysOf('cache').flatMap((key) => (key.startsWith('serve.') ? [key.split('.')[1]!] : []))
  assert.deepEqual([...new Set(keys)], shown)
})

function httpsStatus(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const ca = FAKE_CERTIFICATES.localhost.cert
    httpsRequest({ port, host: 'localhost', path: '/healthz', ca, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
      .on('error', reject)
      .end()
  })
}

test('reloads keep the values of an unchanged cache server, and a dead one is restarted', async (t) => {
  const serving = await Serving.start(t, {})
  const { gateway } = serving
  const first = await serving.pid()
  await serving.put('s/a')

  await serving.deploy({}, { timeout: '1s' }, 'second')
  assert.deepEqual([await serving.get('s/a'), await serving.pid()], [200, first])

  const changed = await serving.deploy({ maxBytes: '64mb' })
  assert.match(changed, /the cache server restarts and loses the values in its memory/)
  const second = await serving.pid()
  assert.deepEqual([await serving.get('s/a'), isAlive(first)], [404, false])
  assert.notEqual(second, first)

  process.kill(second, 'SIGKILL')
  await until(async () => (await serving.put('s/a')) === 204)
  const status = (await gateway.status()).cacheServer
  assert.deepEqual([status?.state, status?.restarts], ['ready', 1])
  await until(() => gateway.log('cache-server.ended')[0]?.['reason'] === 'killed by SIGKILL')
  const metrics = await (await gateway.api('/metrics')).text()
  assert.match(metrics, /gw_cache_server_up 1\n/)
  assert.match(metrics, /gw_cache_server_restarts_total 1\n/)
  await until(async () =>
    /gw_cache_server_rss_bytes [1-9]/.test(await (await gateway.api('/metrics')).text()),
  )

  const other = createServer().listen(await closedPort(), '127.0.0.1')
  t.after(() => other.close())
  await until(() => other.address() !== null)
  const taken = (other.address() as { port: number }).port
  const refused = await serving.deploy({ listen: `127.0.0.1:${taken}` })
  assert.match(refused, /the cache server cannot listen on .*address in use.*change cache.serve.listen/)
  assert.equal(await serving.get('s/a'), 200)

  const moved = await closedPort()
  await serving.deploy({ listen: `127.0.0.1:${moved}` })
  assert.equal((await fetch(`http://127.0.0.1:${moved}/healthz`)).status, 200)
  await until(async () => (await serving.get('s/a')) === 0)

  await serving.deploy(null)
  assert.equal((await gateway.status()).cacheServer, null)
})

test('a stopped cache server is detected by missing heartbeats and replaced', async (t) => {
  const serving = await Serving.start(t)
  const first = await serving.pid()
  process.kill(first, 'SIGSTOP')
  await until(async () => (await serving.gateway.status()).cacheServer?.restarts === 1)
  await until(async () => (await serving.put('s/a')) === 204)
  assert.equal(isAlive(first), false)
  const { gateway } = serving
  assert.deepEqual(
    gateway.log('cache-server.silent').map(({ pid }) => pid),
    [first],
  )
  assert.match(String(gateway.log('cache-server.ended')[0]?.['reason']), /no heartbeat/)
})

test('the token reaches both sides, but no process list, log or plan', async (t) => {
  const [dir, port] = [testDirectory(), await closedPort()]
  writeFileSync(join(dir, 'token.txt'), `${TOKEN}\n`)
  const document = documentOf({ listen: `127.0.0.1:${port}` }, { token: '${file:token.txt}' })
  const running = await new GatewayProcess(t, { document, dir, workers: 1 }).started()
  const ask = async (token: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/v1/cache/s/a`, { headers: { authorization: `Bearer ${token}` } }))
      .status
  assert.deepEqual([await ask('x'.repeat(20)), await ask(TOKEN)], [401, 404])
  const pid = (await running.status()).cacheServer!.pid!
  for (const file of ['cmdline', 'environ'])
    assert.doesNotMatch(readFileSync(`/proc/${pid}/${file}`, 'utf8'), new RegExp(TOKEN))
  assert.doesNotMatch(await (await running.api('/v1/plan')).text(), new RegExp(TOKEN))
  assert.doesNotMatch(JSON.stringify(await running.status()), new RegExp(TOKEN))
  writeFileSync(join(dir, 'token.txt'), 'another-token-of-it')
  running.signal('SIGHUP')
  await until(async () => (await ask('another-token-of-it').catch(() => 0)) === 404)
  await until(() => running.log('cache-server.ready').length === 2)
  assert.doesNotMatch(JSON.stringify(running.log('config.applied')), /token-of-it|the-token/)

  running.signal('SIGTERM')
  assert.deepEqual(await running.exited, { code: 0, signal: null })
  await assert.rejects(ask(TOKEN))
})

test('with persist the values survive a crash and changed settings', {
  skip: redisSkip,
}, async (t) => {
  const redis = await RedisServer.start(t, ['--requirepass', 'a-password-of-valkey'])
  const cli = (...args: string[]) => redis.cli('--no-auth-warning', '-a', 'a-password-of-valkey', ...args)
  await until(() => cli('ping') === 'PONG')
  cli('acl', 'setuser', 'cache', 'on', '>another-password', '~own:*', '+@all')
  const persist = {
    url: `redis://127.0.0.1:${redis.port}/3`,
    username: 'cache',
    password: '${file:password.txt}',
    keyPrefix: 'own:',
    timeout: '10s',
  }
  const dir = testDirectory()
  writeFileSync(join(dir, 'password.txt'), 'another-password\n')
  const port = await closedPort()
  const document = (more: object = {}): string =>
    documentOf({ listen: `127.0.0.1:${port}`, persist, ...more })
  const gateway = await new GatewayProcess(t, { document: document(), dir, workers: 1 }).started()
  const serving = new Serving(gateway, port)
  const isUp = async (): Promise<boolean> => {
    const text = await serving.call('GET', '/metrics').then((response) => response.text(), String)
    return text.includes('sluice_cache_persist_up 1\n')
  }
  await until(isUp)
  assert.equal(await serving.put('s/a'), 204)
  await until(() => cli('-n', '3', 'keys', 'own:*s/a') !== '')
  process.kill(await serving.pid(), 'SIGKILL')
  await until(async () => (await serving.get('s/a')) === 200)

  await gateway.put(document({ maxBytes: '64mb' }))
  assert.equal(await serving.get('s/a'), 200)
  const ready = await until(() => {
    const entries = gateway.log('cache-server.persist-ready')
    return entries.length === 3 ? entries : null
  })
  assert.deepEqual(
    ready.map((entry) => entry['values']),
    ['none', 'found', 'found'],
  )
  const pid = await serving.pid()
  for (const file of ['cmdline', 'environ'])
    assert.doesNotMatch(readFileSync(`/proc/${pid}/${file}`, 'utf8'), /another-password/)
  assert.doesNotMatch(await (await gateway.api('/v1/plan')).text(), /another-password/)
})
