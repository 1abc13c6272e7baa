import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PersistPlan } from '@sluice/config'
import { RedisServer, redisSkip } from '../../state/testing/redis-server.js'
import { until } from '../../testing/gateway.js'
import { type CacheServer, startCacheServer } from '../start-cache-server.js'
import type { CacheSettings } from '../store/settings.js'
import { CACHE_SETTINGS, CacheProcess } from '../testing/cache-process.js'

const skip = redisSkip

function planOf(redis: RedisServer, more: Partial<PersistPlan> = {}): PersistPlan {
  return {
    url: `redis://127.0.0.1:${redis.port}`,
    username: null,
    password: null,
    keyPrefix: 'c:',
    timeoutMs: 10_000,
    tls: { caFile: null, servername: null, insecure: false },
    ...more,
  }
}

/** A server and calls to it. */
class Server {
  readonly #url: string
  readonly #end: () => Promise<void>

  constructor(url: string, end: () => Promise<void>) {
    this.#url = url
    this.#end = end
  }

  static async start(
    t: TestContext,
    persist: PersistPlan,
    more: Partial<CacheSettings> = {},
  ): Promise<Server> {
    const running: CacheServer = await startCacheServer({ ...CACHE_SETTINGS, persist, ...more })
    let isEnded = false
    const end = async (): Promise<void> => {
      if (isEnded) return
      isEnded = true
      running.stop()
      assert.equal(await running.ended, null)
    }
    t.after(end)
    const server = new Server(`http://127.0.0.1:${running.port}`, end)
    await until(() => server.isUp())
    return server
  }

  /** Resolves when everything has been written. */
  end(): Promise<void> {
    return this.#end()
  }

  call(method: string, path: string, more: RequestInit = {}): Promise<Response> {
    const headers = { connection: 'close', ...more.headers }
    return fetch(`${this.#url}${path}`, { method, ...more, headers })
  }

  async put(path: string, body: string, more: RequestInit = {}): Promise<void> {
    const { status } = await this.call('PUT', `/v1/cache/${path}`, { body, ...more })
    assert.equal(status, 204)
  }

  /** Returns the value, or the status if there is none. */
  async get(path: string): Promise<string | number> {
    const response = await this.call('GET', `/v1/cache/${path}`)
    const text = await response.text()
    return response.status === 200 ? text : response.status
  }

  async delete(path: string): Promise<number> {
    return (await this.call('DELETE', `/v1/cache/${path}`)).status
  }

  async purge(query: string): Promise<number> {
    return (await this.call('POST', `/v1/cache/${query}`)).status
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.call('GET', '/metrics')).text()
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1))
  }

  async isUp(): Promise<boolean> {
    return (await this.metric('sluice_cache_persist_up')) === 1
  }

  result(name: string): Promise<number> {
    return this.metric(`sluice_cache_persist_total{result="${name}"}`)
  }
}

test('a restarted server finds its values with type and tags until they expire', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const first = await Server.start(t, planOf(redis))
  const headers = { 'content-type': 'text/x', 'surrogate-key': 'blue round' }
  await first.put('s/a/b%ff', 'value', { headers })
  await first.put('s/long?ttl=2h', 'long')
  await first.put('s/over?ttl=1ms', 'over')
  await first.put('s/empty', '')
  await first.put('s/large', 'x'.repeat(500_000))
  await first.end()
  await until(() => redis.cli('keys', '*').split('\n').length === 5)

  const second = await Server.start(t, planOf(redis), { workers: 2 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => second.call('GET', '/v1/cache/s/a/b%ff')))
  for (const answer of answers) {
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), await answer.text()],
      [200, 'text/x', 'value'],
    )
  }
  assert.ok((await second.result('found')) < 8)
  assert.deepEqual([await second.get('s/over'), await second.get('s/empty')], [404, ''])
  assert.equal(String(await second.get('s/large')).length, 500_000)
  const asked = await second.result('found')
  assert.equal(await second.get('s/a/b%ff'), 'value')
  assert.equal(await second.result('found'), asked)
  const [name] = redis.cli('keys', '*s/long').split('\n')
  const leftMs = Number(redis.cli('pttl', name!))
  assert.ok(leftMs > 3_600_000 && leftMs <= 7_200_000)
  assert.equal(await second.purge('s/_purge?tag=round'), 200)
  assert.equal(await second.get('s/a/b%ff'), 404)
})

test('removed, replaced and purged values do not return after a kill', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const before = await Server.start(t, planOf(redis))
  const keys = ['s/kept', 's/gone', 's/new', 's/pre/a', 'own/a', 'tag/a', 'tag/b', 'z/x']
  for (const key of keys) await before.put(key, 'old', { headers: { 'surrogate-key': key.slice(-1) } })
  await before.end()

  const killed = await CacheProcess.start(t, { persist: planOf(redis) })
  const call = async (method: string, path: string, body: string | null = null): Promise<number> =>
    (await fetch(`${killed.url}/v1/cache/${path}`, { method, body })).status
  assert.equal(await call('DELETE', 's/gone'), 204)
  assert.equal(await call('DELETE', 's/gone'), 404)
  assert.equal(await call('DELETE', 's/*'), 404)
  assert.equal(await call('PUT', 's/new', 'new'), 204)
  await until(() => redis.cli('--raw', 'get', redis.cli('keys', '*s/new')).endsWith('new'))
  assert.equal(await call('POST', 's/_purge?prefix=pre/'), 200)
  assert.equal(await call('POST', 'own/_purge'), 200)
  assert.equal(await call('POST', 'tag/_purge?tag=a'), 200)
  assert.equal(await call('PUT', 'own/b', 'later'), 204)
  await until(() => redis.cli('keys', '*own/b') !== '')
  await killed.kill()

  const after = await Server.start(t, planOf(redis))
  const found = await Promise.all([...keys, 'own/b'].map((key) => after.get(key)))
  assert.deepEqual(found, ['old', 404, 'new', 404, 404, 404, 'old', 'old', 'later'])
})

test('the server keeps serving without Valkey, and removals made meanwhile persist', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
  await until(() => redis.cli('ping') === 'PONG')
  const first = await Server.start(t, planOf(redis))
  for (const key of ['s/kept', 's/gone', 't/purged', 's/changed']) await first.put(key, 'old')
  await until(async () => (await first.result('written')) >= 4)
  await redis.kill()
  await until(async () => !(await first.isUp()))
  assert.deepEqual([await first.get('s/kept'), await first.get('s/absent')], ['old', 404])
  assert.equal(await first.delete('s/gone'), 503)
  assert.equal(await first.purge('t/_purge'), 503)
  await first.put('s/changed', 'new')
  assert.deepEqual([await first.get('s/gone'), await first.get('t/purged')], [404, 404])
  redis.run()
  await until(() => first.isUp())
  assert.deepEqual([await first.get('s/gone'), await first.get('t/purged')], [404, 404])
  assert.equal(await first.delete('s/gone'), 404)
  await first.end()
  assert.notEqual(redis.cli('keys', '*s/gone'), '', 'what it had is still there')

  const second = await Server.start(t, planOf(redis))
  const found = await Promise.all(['s/kept', 's/gone', 't/purged', 's/changed'].map((key) => second.get(key)))
  assert.deepEqual(found, ['old', 404, 404, 'new'])
})

test('a hanging Valkey delays requests at most by its timeout', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const server = await Server.start(t, planOf(redis, { timeoutMs: 50 }))
  await server.put('s/a', 'v')
  await until(async () => (await server.result('written')) >= 1)
  redis.signal('SIGSTOP')
  assert.deepEqual([await server.get('s/absent'), await server.get('s/a')], [404, 'v'])
  assert.ok((await server.result('late')) >= 1)
  assert.equal(await server.delete('s/a'), 503)
  assert.equal(await server.get('s/a'), 404)
  redis.signal('SIGCONT')
  await until(async () => (await server.delete('s/a')) === 404)
  await server.end()
  const second = await Server.start(t, planOf(redis))
  assert.equal(await second.get('s/a'), 404)
})

test('a full Valkey keeps no outdated values, and purges still apply', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t, ['--maxmemory-policy', 'noeviction'])
  await until(() => redis.cli('ping') === 'PONG')
  const first = await Server.start(t, planOf(redis))
  await first.put('s/a', 'old')
  await first.put('t/a', 'old')
  await until(async () => (await first.result('written')) >= 2)
  redis.cli('config', 'set', 'maxmemory', '1')
  await first.put('s/a', 'new')
  await until(() => redis.cli('keys', '*s/a') === '')
  assert.ok((await first.result('failed')) >= 1)
  assert.equal(await first.purge('t/_purge'), 200)
  await first.end()
  redis.cli('config', 'set', 'maxmemory', '0')
  const second = await Server.start(t, planOf(redis))
  assert.deepEqual([await second.get('s/a'), await second.get('t/a')], [404, 404])
})

test('foreign data in Valkey is never served as a value or a header', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const first = await Server.start(t, planOf(redis))
  await first.put('s/a', 'value', { headers: { 'content-type': 'text/plain' } })
  await first.end()
  const name = redis.cli('keys', '*s/a')
  const hex = "string.format('%02x', c:byte())"
  const reading = `return (redis.call('GET', KEYS[1]):gsub('.', function(c) return ${hex} end))`
  const record = Buffer.from(redis.cli('eval', reading, '1', name), 'hex')
  const write = (key: string, bytes: Buffer): void => {
    const bytesOf = "ARGV[1]:gsub('..', function(c) return string.char(tonumber(c, 16)) end)"
    const script = `return redis.call('SET', KEYS[1], (${bytesOf}))`
    redis.cli('eval', script, '1', name.replace(/s\/a$/, key), bytes.toString('hex'))
  }
  write('s/text', Buffer.from('hello'))
  write('s/other', record)
  write('s/cut', record.subarray(0, -1))
  write('s/more', Buffer.concat([record, Buffer.from('x')]))
  write('s/long', record)
  redis.cli('setrange', name.replace(/a$/, 'long'), '600000', 'x')
  const end = record.indexOf('\n')
  const head = JSON.parse(record.toString('utf8', 0, end)) as object
  const changed = (key: string, change: object): void => {
    const text = JSON.stringify({ ...head, key: `s/${key}`, ...change })
    write(`s/${key}`, Buffer.concat([Buffer.from(text), record.subarray(end)]))
  }
  changed('b', { type: 'a\r\nx: y' })
  changed('c', { expiresAt: 'soon' })
  changed('d', { expiresAt: Date.now() * 3 })
  changed('e', { bytes: 0xffffffff })
  changed('f', { tags: ' \u0100 ' })
  changed('g', { epoch: 4_000_000_000 })
  redis.cli('rpush', name.replace(/a$/, 'list'), 'x')
  const second = await Server.start(t, planOf(redis))
  for (const key of ['text', 'other', 'cut', 'more', 'long', 'b', 'c', 'd', 'e', 'f', 'g', 'list'])
    assert.equal(await second.get(`s/${key}`), 404, key)
  assert.equal(await second.get('s/a'), 'value')
  await second.put('s/list', 'own')
  await second.end()

  redis.cli('hset', 'c:meta', 'pnonsense', '1.1')
  const third = await Server.start(t, planOf(redis))
  assert.equal(await third.get('s/a'), 404, 'a list of purges that cannot be read makes all old')
  await third.end()
  redis.cli('del', 'c:meta')
  redis.cli('rpush', 'c:meta', 'x')
  const fourth = await Server.start(t, planOf(redis))
  await fourth.put('s/a', 'again')
  assert.equal(await fourth.delete('s/a'), 204)
})

test('of two servers with one prefix the first gives up; without its metadata a server starts over', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const first = await Server.start(t, planOf(redis))
  await first.put('s/a', 'v')
  await until(async () => (await first.result('written')) >= 1)
  const second = await Server.start(t, planOf(redis))
  assert.equal(await second.get('s/a'), 'v')
  await until(async () => !(await first.isUp()))
  assert.deepEqual([await first.get('s/a'), await first.delete('s/a')], ['v', 503])
  redis.cli('flushall')
  await until(() => redis.cli('keys', '*s/a') !== '')
  assert.equal(await second.isUp(), true)
})

test('the documented Valkey permissions suffice, and missing ones are reported', {
  skip,
}, async (t) => {
  const redis = await RedisServer.start(t)
  await until(() => redis.cli('ping') === 'PONG')
  const commands = 'getrange set unlink hget hset hgetall hincrby client|setname'
  const rights = commands.split(' ').map((command) => `+${command}`)
  redis.cli('acl', 'setuser', 'cache', 'on', '>password', '~c:*', '-@all', ...rights)
  const told: string[] = []
  const persist = planOf(redis, { username: 'cache', password: 'password' })
  const report = (event: string, { problem }: Readonly<Record<string, unknown>>): void =>
    void told.push(`${event} ${problem}`)
  const running = startCacheServer({ ...CACHE_SETTINGS, persist }, report)
  t.after(async () => (await running).stop())
  await until(() => told.some((line) => /^persist_lost .*hlen/i.test(line)))
  assert.doesNotMatch(told.join(), /password/)
  redis.cli('acl', 'setuser', 'cache', '+hlen')
  await until(() => told.some((line) => line.startsWith('persist_ready')))
  const url = `http://127.0.0.1:${(await running).port}/v1/cache/s`
  const call = async (method: string, path: string): Promise<number> =>
    (await fetch(`${url}${path}`, { method, body: method === 'PUT' ? 'v' : null })).status
  assert.deepEqual([await call('PUT', '/a'), await call('DELETE', '/a')], [204, 204])
  assert.equal(await call('POST', '/_purge'), 200)
})
