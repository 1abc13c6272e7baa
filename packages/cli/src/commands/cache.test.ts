import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { startGateway, until } from '../testing.js'

// Stored responses of several workers, shown and forgotten by the admin API.

/** Two workers with `response-cache`, and how often their upstream is asked. */
async function cachingGateway(t: TestContext, config = '') {
  let asked = 0
  const server = http.createServer((req, res) => {
    asked++
    const tag = req.url!.split('/')[1]!
    res.writeHead(200, { 'cache-control': 'max-age=1000', 'surrogate-key': `t-${tag} all-of-them` }).end('x')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
upstreams: { up: { targets: ["http://127.0.0.1:${port}"] } }
routes: [{ id: all, upstream: up, policies: [{ use: response-cache${config} }] }]
log: { sink: none }
`,
  )
  const run = (...args: string[]) => gwInProcess(args, { env: { GW_SERVER: gateway.admin, GW_TOKEN: '' } })
  const { host } = new URL(gateway.url)
  /** How often the upstream is asked for something that both workers are asked for often. */
  const askedFor = async (path: string): Promise<number> => {
    const before = asked
    for (let i = 0; i < 16; i++) {
      const response = await fetch(new URL(path, gateway.url), { headers: { connection: 'close' } })
      assert.equal(response.headers.get('surrogate-key'), null)
      await response.text()
    }
    return asked - before
  }
  return { gateway, run, host, askedFor }
}

test('responses are shown and forgotten on all workers: by key, prefix, tag, and all', async (t) => {
  const { gateway, run, host, askedFor } = await cachingGateway(t)
  for (const path of ['/a/1', '/a/2', '/b/1']) assert.equal(await askedFor(path), 2, path)
  assert.equal(await askedFor('/a/1'), 0)

  const got = await run('cache', 'get', `http://${host}/a/1`)
  assert.equal(got.code, 0, got.stderr)
  assert.equal(got.stdout.match(/t-a,all-of-them/g)?.length, 2)
  const stats = JSON.parse((await run('cache', 'stats', '-o', 'json')).stdout)
  assert.deepEqual([stats.entries, stats.requests.miss, stats.requests.hit], [6, 6, 58])

  assert.match((await run('cache', 'purge', '--key', `${host}/a/1`)).stdout, /removed: 2/)
  assert.deepEqual([await askedFor('/a/1'), await askedFor('/a/2')], [2, 0])
  assert.match((await run('cache', 'purge', '--prefix', `http://${host}/a/`)).stdout, /removed: 4/)
  assert.deepEqual([await askedFor('/a/1'), await askedFor('/b/1')], [2, 0])
  assert.match((await run('cache', 'purge', '--tag', 't-b')).stdout, /removed: 2/)
  assert.deepEqual([await askedFor('/a/1'), await askedFor('/b/1')], [0, 2])
  assert.match((await run('cache', 'purge', '--all', '--yes')).stdout, /removed: 4/)
  assert.equal(await askedFor('/b/1'), 2)

  // A request that changes something at a URI is served by one worker; the other one hears of it.
  assert.equal(await askedFor('/b/1'), 0)
  await fetch(new URL('/b/1', gateway.url), { method: 'POST', body: 'new' })
  await until(async () => JSON.parse((await run('cache', 'stats', '-o', 'json')).stdout).entries === 0)
  assert.equal(await askedFor('/b/1'), 2)

  assert.equal((await run('cache', 'purge')).code, 64)
  assert.equal((await run('cache', 'purge', '--key', 'a', '--all')).code, 64)
  const nothing = await run('cache', 'purge', '--key', '/b/1')
  assert.deepEqual([nothing.code, nothing.stdout], [0, 'removed: 0\n'])
  assert.match(nothing.stderr, /^keys start with the host/)
  const missing = await run('cache', 'get', `${host}/nothing`)
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /nothing is stored under '127.0.0.1:\d+\/nothing'; keys start with the host/)
})

test('with scope: gateway what one worker has got the others take, and what is forgotten is forgotten there', async (t) => {
  const { gateway, run, host, askedFor } = await cachingGateway(t, ', with: { scope: gateway }')
  let n = 0
  /** Asks for something new until both workers have it, of which one has asked. */
  const shared = async (): Promise<string> => {
    let path = ''
    await until(async () => {
      path = `/a/${n++}`
      const asked = await askedFor(path)
      return asked === 1 && (await run('cache', 'get', host + path)).stdout.match(/t-a/g)?.length === 2
    })
    return path
  }
  for (const by of [['--key'], ['--tag', 't-a'], ['--prefix', `${host}/a`], ['--all', '--yes']]) {
    const path = await shared()
    const scope = by[0] === '--key' ? ['--key', host + path] : by
    assert.equal((await run('cache', 'purge', ...scope)).code, 0)
    assert.notEqual(await askedFor(path), 0, scope.join(' '))
  }
  const path = await shared()
  await fetch(new URL(path, gateway.url), { method: 'POST', body: 'new' })
  await until(async () => (await run('cache', 'get', host + path)).code === 1)
  assert.notEqual(await askedFor(path), 0)
})
