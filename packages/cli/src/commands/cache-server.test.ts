import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { test } from 'node:test'
import { RedisServer, redisSkip } from '@sluice/gateway/testing/redis-server'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, spawnGw, until } from '../testing.js'

const TOKEN = 'a-token-of-some-length'

test('a cache server serves with its token and its spaces until SIGTERM, and exits with 0', async (t) => {
  const file = fileWith(t, `${TOKEN}\n`)
  chmodSync(file, 0o600)
  const args = [
    '--listen',
    '127.0.0.1:0',
    '--tier',
    'W2',
    '--token-file',
    file,
    '--space',
    's=ttl:1ms,max:16mb',
  ]
  const server = spawnGw(t, ['cache-server', ...args])
  await until(() => server.stdout().includes('listening on'), server.stderr)
  const [, url] = /listening on (\S+) \(2 workers\)/.exec(server.stdout())!
  const headers = { authorization: `Bearer ${TOKEN}` }
  const status = async (method: string, path: string): Promise<number> =>
    (await fetch(`${url}/v1/cache/${path}`, { method, headers, body: method === 'PUT' ? 'v' : null })).status
  assert.equal((await fetch(`${url}/v1/cache/a/b`)).status, 401)
  assert.equal(await status('PUT', 'a/b'), 204)
  assert.equal(await status('GET', 'a/b'), 200)
  assert.equal(await status('PUT', 's/b'), 204)
  await until(async () => (await status('GET', 's/b')) === 404, server.stderr)
  server.process.kill('SIGTERM')
  assert.equal(await server.exited, 0)
})

test('what cannot be served is refused before anything is', async () => {
  const run = (...args: string[]) => gwInProcess(['cache-server', ...args])
  const cases: readonly (readonly [RegExp, ...string[]])[] = [
    [/add --token-file/, '--listen', ':0'],
    [/is not a listen address/, '--listen', 'nowhere'],
    [/from 8mb to 64gb/, '--max-bytes', '1mb'],
    [/--max-object-bytes: use 1 to/, '--max-object-bytes', '4mb'],
    [/use a ttl from/, '--ttl', '0s'],
    [/is not a valid name/, '--space', '../a=ttl:1s'],
    [/not 'size'/, '--space', 'a=size:1mb'],
    [/must be used together/, '--tls-cert', 'cert.pem'],
    [/--persist: use redis/, '--persist', 'redis://user:secret@127.0.0.1'],
    [/require --persist/, '--persist-user', 'cache'],
    [/from 10ms to 10s/, '--persist', 'redis://127.0.0.1', '--persist-timeout', '1ms'],
  ]
  const answers = await Promise.all(cases.map(([, ...args]) => run(...args)))
  for (const [i, { code, stderr }] of answers.entries()) {
    assert.match(stderr, cases[i]![0])
    assert.doesNotMatch(stderr, /secret/)
    assert.equal(code, 64)
  }
})

test('what a cache server keeps in Valkey is there when it is started again', {
  skip: redisSkip,
}, async (t) => {
  const redis = await RedisServer.start(t, ['--requirepass', 'password-of-valkey'])
  const file = fileWith(t, 'password-of-valkey\n')
  chmodSync(file, 0o600)
  const url = `redis://127.0.0.1:${redis.port}`
  const persist = ['--persist', url, '--persist-password-file', file, '--persist-prefix', 'mine:']
  const start = async () => {
    const server = spawnGw(t, ['cache-server', '--listen', '127.0.0.1:0', '--tier', 'W1', ...persist])
    await until(() => server.stdout().includes('listening on'), server.stderr)
    return { ...server, value: `${/listening on (\S+)/.exec(server.stdout())![1]}/v1/cache/a/b` }
  }
  const first = await start()
  await until(() => first.stderr().includes('Valkey persistence is on'), first.stderr)
  assert.equal((await fetch(first.value, { method: 'PUT', body: 'v' })).status, 204)
  first.process.kill('SIGTERM')
  assert.equal(await first.exited, 0)
  const second = await start()
  await until(() => second.stderr().includes('existing values are used'), second.stderr)
  assert.equal(await (await fetch(second.value)).text(), 'v')
})
