import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisServer, redisSkip, statePlanOf } from '../../state/testing/redis-server.js'
import { until } from '../../testing/gateway.js'
import { type CacheBench, cacheBench } from '../testing/caching-gateway.js'

// Two gateways, each with its own upstream, share one real server.

const options = { skip: redisSkip }

async function replicas(
  t: Parameters<typeof cacheBench>[0],
  server: RedisServer,
): Promise<[CacheBench, CacheBench]> {
  const one = (name: string): Promise<CacheBench> =>
    cacheBench(
      t,
      (req, res) =>
        res
          .writeHead(200, { 'cache-control': 'max-age=1000', vary: 'x-v', 'surrogate-key': `tag${req.url}` })
          .end(`${name} ${req.headers['x-v'] ?? ''}`),
      { scope: 'cluster', key: { host: false } },
      { state: statePlanOf(server.port) },
    )
  const both: [CacheBench, CacheBench] = [await one('a'), await one('b')]
  // Each gateway uses the server as soon as it knows of its purges.
  for (const [i, { ask }] of both.entries()) {
    const other = both[1 - i]!
    let n = 0
    await until(async () => {
      const path = `/warm-${i}-${n++}`
      await ask(path)
      return (await other.ask(path)).text.startsWith(i === 0 ? 'a' : 'b')
    })
  }
  return both
}

test('replicas share responses through the server, variant by variant', options, async (t) => {
  const [a, b] = await replicas(t, await RedisServer.start(t))
  const v = (value: string) => ({ headers: { 'x-v': value } })
  await a.ask('/x', v('1'))
  await a.ask('/x', v('2'))
  const before = b.seen.length
  await until(async () => (await b.ask('/x', v('2'))).text === 'a 2')
  assert.equal((await b.ask('/x', v('1'))).text, 'a 1')
  assert.equal(b.seen.length, before)
  const hit = await b.ask('/x', v('1'))
  assert.match(hit.headers['cache-status'] as string, /hit/)
  assert.equal((await b.ask('/x', v('3'))).text, 'b 3')
})

test('purges and changes reach what the server has, and purges the other replica', options, async (t) => {
  const server = await RedisServer.start(t)
  const [a, b] = await replicas(t, server)
  const values = newKeys(server, 'r')
  for (const [i, path] of ['/k', '/t', '/p/1', '/w'].entries()) {
    assert.equal((await a.ask(path)).text, 'a ')
    await until(() => values().length > i)
    if (path !== '/w') assert.equal((await b.ask(path)).text, 'a ')
  }
  for (const [scope, path] of [
    [{ by: 'key', value: '/k' }, '/k'],
    [{ by: 'tag', value: 'tag/t' }, '/t'],
    [{ by: 'prefix', value: '/p' }, '/p/1'],
  ] as const) {
    a.gateway.plane.responses.purge(scope)
    await until(() => b.gateway.plane.responses.find(path).length === 0)
    assert.equal((await b.ask(path)).text, 'b ', path)
  }
  const tokens = () =>
    server
      .cli('keys', '*response-cache:u:*')
      .split('\n')
      .map((key) => server.cli('get', key))
      .join()
  const before = tokens()
  await a.ask('/w', { method: 'POST', body: 'x' })
  await until(() => tokens() !== before)
  assert.equal((await b.ask('/w')).text, 'b ')
})

test('while the server is away the upstream is asked', options, async (t) => {
  const server = await RedisServer.start(t)
  const [a, b] = await replicas(t, server)
  await server.kill()
  assert.equal((await a.ask('/away')).text, 'a ')
  assert.equal((await b.ask('/away')).text, 'b ')
  assert.equal((await b.ask('/away')).text, 'b ')
})

/** Returns the keys of one kind that are new. */
function newKeys(server: RedisServer, kind: 'u' | 'r'): () => string[] {
  const keys = () => server.cli('keys', `*response-cache:${kind}:*`).split('\n').filter(Boolean)
  const known = new Set(keys())
  return () => keys().filter((key) => !known.has(key))
}

test('variants from before and after a change are not mixed', options, async (t) => {
  const server = await RedisServer.start(t)
  const [a, b] = await replicas(t, server)
  const [tokens, values] = [newKeys(server, 'u'), newKeys(server, 'r')]
  const v = (value: string) => ({ headers: { 'x-v': value } })
  assert.equal((await b.ask('/c', v('old'))).text, 'b old')
  await until(() => values().length > 0)
  const tokenText = () => tokens().map((key) => server.cli('get', key))[0]
  const before = tokenText()
  await a.ask('/c', { method: 'POST', body: 'x' })
  await until(() => tokenText() !== before)
  assert.equal((await b.ask('/c', v('new'))).text, 'b new')
  await until(() => server.cli('get', values()[0]!).includes('new'))
  assert.equal((await a.ask('/c', v('new'))).text, 'b new')
  assert.equal((await a.ask('/c', v('old'))).text, 'a old')
})

test('an evicted change marker does not bring back old responses', options, async (t) => {
  const server = await RedisServer.start(t)
  const [a, b] = await replicas(t, server)
  const [tokens, values] = [newKeys(server, 'u'), newKeys(server, 'r')]
  assert.equal((await a.ask('/gone')).text, 'a ')
  await until(() => values().length > 0)
  // A server that is short of memory evicts in its own order.
  for (const key of tokens()) server.cli('del', key)
  assert.equal((await b.ask('/gone')).text, 'b ')
})

test('an evicted purge counter does not hide later purges', options, async (t) => {
  const server = await RedisServer.start(t)
  const [a, b] = await replicas(t, server)
  const counter = () => server.cli('keys', '*response-cache:purges')
  const values = newKeys(server, 'r')
  a.gateway.plane.responses.purge({ by: 'tag', value: 'none' })
  // Nothing is stored in the server while a purge is pending.
  let n = 0
  await until(async () => {
    await a.ask(`/before-${n++}`)
    return values().length > 0
  })
  const more = newKeys(server, 'r')
  assert.equal((await a.ask('/o')).text, 'a ')
  await until(() => more().length > 0)
  await b.ask('/seen')
  server.cli('del', counter())
  await until(
    () => [a.gateway.plane.responses.find('/o'), b.gateway.plane.responses.find('/seen')].flat().length === 0,
  )
  await b.ask('/o/1')
  a.gateway.plane.responses.purge({ by: 'prefix', value: '/o' })
  await until(() => b.gateway.plane.responses.find('/o/1').length === 0)
  assert.equal((await b.ask('/o')).text, 'b ')
})
