import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Policy, Step } from '@sluice/core'
import { until } from '../../testing/gateway.js'
import { cacheBench } from '../testing/caching-gateway.js'

const FRESH = { 'cache-control': 'max-age=100' }

test('a fresh response answers without the upstream, with its age, and HEAD from it', async (t) => {
  const { ask, seen } = await cacheBench(t, (_, res, count) => res.writeHead(200, FRESH).end(`body ${count}`))
  const first = await ask('/a?b=1')
  assert.equal(first.headers['cache-status'], 'sluice; fwd=uri-miss; stored')
  const second = await ask('/a?b=1')
  assert.equal(second.text, 'body 1')
  assert.match(second.headers['cache-status'] as string, /^sluice; hit; ttl=\d+$/)
  assert.match(second.headers.age!, /^\d$/)
  const head = await ask('/a?b=1', { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '6', ''])
  assert.equal((await ask('/a?b=2')).text, 'body 2')
  assert.equal(seen.length, 2)
})

test('a stale response is validated, updated by a 304 and replaced by a 200', async (t) => {
  let etag = '"1"'
  const { ask, seen } = await cacheBench(t, (req, res, count) => {
    const headers = { 'cache-control': 'max-age=0', etag, 'x-count': count }
    const isSame = req.headers['if-none-match'] === etag
    res.writeHead(isSame ? 304 : 200, headers).end(isSame ? undefined : `body ${etag}`)
  })
  await ask('/a')
  const second = await ask('/a')
  assert.deepEqual([second.status, second.text, second.headers['x-count']], [200, 'body "1"', '2'])
  assert.equal(second.headers['cache-status'], 'sluice; fwd=stale; fwd-status=304')
  assert.equal(seen[1]!.headers['if-none-match'], '"1"')
  const own = await ask('/a', { headers: { 'if-none-match': 'W/"1", "x"' } })
  assert.deepEqual([own.status, own.text], [304, ''])
  etag = '"2"'
  assert.equal((await ask('/a')).text, 'body "2"')
  assert.equal((await ask('/a')).text, 'body "2"')
  assert.equal(seen.at(-1)!.headers['if-none-match'], '"2"')
})

test('one range of a stored response is answered 206, one outside 416, several by the whole', async (t) => {
  const { ask, seen } = await cacheBench(t, (_, res) =>
    res.writeHead(200, { ...FRESH, etag: '"e"' }).end('0123456789'),
  )
  await ask('/a')
  const part = async (range: string, more = {}) => {
    const { status, text, headers } = await ask('/a', { headers: { range, ...more } })
    return `${status} ${text} ${headers['content-range'] ?? '-'}`
  }
  assert.equal(await part('bytes=2-4'), '206 234 bytes 2-4/10')
  assert.equal(await part('bytes=-3'), '206 789 bytes 7-9/10')
  assert.equal(await part('bytes=8-'), '206 89 bytes 8-9/10')
  assert.equal(await part('bytes=10-'), '416  bytes */10')
  assert.equal(await part('bytes=0-1,3-4'), '200 0123456789 -')
  assert.equal(await part('bytes=4-2'), '200 0123456789 -')
  assert.equal(await part('bytes=0-1', { 'if-range': '"e"' }), '206 01 bytes 0-1/10')
  assert.equal(await part('bytes=0-1', { 'if-range': '"f"' }), '200 0123456789 -')
  assert.equal(seen.length, 1)
})

test('a stale response is served while a new one is asked for, once', async (t) => {
  const { ask, seen, gateway } = await cacheBench(
    t,
    (_, res, count) =>
      res.writeHead(200, { 'cache-control': count === 1 ? 'max-age=0' : 'max-age=100' }).end(`${count}`),
    { staleWhileRevalidate: '1m' },
  )
  await ask('/a')
  const stale = await ask('/a')
  assert.equal(stale.text, '1')
  await until(() => seen.length === 2)
  await until(async () => (await ask('/a')).text === '2')
  assert.equal(seen.length, 2)
  assert.equal(gateway.plane.inFlight, 0)
})

test('a stale response is served in the place of a failure, unless it must be validated', async (t) => {
  let isBroken = false
  const { ask } = await cacheBench(
    t,
    (req, res) => {
      if (isBroken && req.url!.endsWith('cut')) req.socket.destroy()
      else if (isBroken) res.writeHead(503).end('no')
      else
        res
          .writeHead(200, {
            'cache-control': req.url === '/must' ? 'max-age=0, must-revalidate' : 'max-age=0',
          })
          .end('ok')
    },
    { staleIfError: '1m' },
  )
  for (const path of ['/a', '/cut', '/must']) await ask(path)
  isBroken = true
  for (const path of ['/a', '/cut']) {
    const answer = await ask(path)
    assert.deepEqual([answer.status, answer.text], [200, 'ok'], path)
  }
  assert.equal((await ask('/must')).status, 503)
})

test('directives of requests: no-store, no-cache, max-age, min-fresh, max-stale and only-if-cached', async (t) => {
  const { ask, seen } = await cacheBench(t, (req, res) =>
    res
      .writeHead(200, {
        'cache-control': req.url === '/stale' ? 'max-age=0, stale-if-error=9' : 'max-age=100',
      })
      .end('x'),
  )
  const asked = async (path: string, directives: string) => {
    const before = seen.length
    const { status } = await ask(path, { headers: { 'cache-control': directives } })
    return `${status} ${seen.length - before}`
  }
  assert.equal(await asked('/a', 'only-if-cached'), '504 0')
  assert.equal(await asked('/a', 'no-store'), '200 1')
  assert.equal(await asked('/a', 'max-age=10'), '200 1')
  assert.equal(await asked('/a', 'max-age=10'), '200 0')
  assert.equal(await asked('/a', 'only-if-cached'), '200 0')
  assert.equal(await asked('/a', 'no-cache'), '200 1')
  assert.equal(await asked('/a', 'max-age=0'), '200 1')
  assert.equal(await asked('/a', 'min-fresh=50'), '200 0')
  assert.equal(await asked('/a', 'min-fresh=200'), '200 1')
  assert.equal(await asked('/stale', 'max-stale=100'), '200 1')
  assert.equal(await asked('/stale', 'max-stale=100'), '200 0')
  assert.equal(await asked('/stale', 'max-stale'), '200 0')
  assert.equal(await asked('/stale', 'max-age=3'), '200 1')
})

test('concurrent identical requests are coalesced, unless the response is not cacheable', async (t) => {
  let release: (() => void)[] = []
  const { ask, seen } = await cacheBench(t, (req, res) => {
    release.push(() =>
      res.writeHead(200, req.url === '/keep' ? FRESH : { 'cache-control': 'no-store' }).end('x'),
    )
  })
  const three = [ask('/keep'), ask('/keep'), ask('/keep')]
  await until(() => release.length === 1)
  release.shift()!()
  const answers = await Promise.all(three)
  assert.deepEqual(
    answers.map(({ text }) => text),
    ['x', 'x', 'x'],
  )
  assert.equal(seen.length, 1)

  const more = [ask('/no'), ask('/no'), ask('/no'), ask('/no')]
  await until(() => release.length === 1)
  release.shift()!()
  // All waiting requests are in flight at once.
  await until(() => release.length === 3)
  const late = ask('/no')
  await until(() => release.length === 4)
  for (const end of release) end()
  release = []
  await Promise.all([...more, late])
})

test('steps behind the cache work on what is kept, steps before it on what clients get', async (t) => {
  const add = (name: string) => ['header', { response: { append: { [name]: '{{req.id}}' } } }] as const
  const { ask, seen } = await cacheBench(
    t,
    (_, res, count) =>
      res.writeHead(200, { ...FRESH, 'content-type': 'application/json' }).end(`{"n":${count}}`),
    {},
    { before: [add('x-outer')], behind: [add('x-inner')] },
  )
  const [first, second] = [await ask('/a'), await ask('/a')]
  assert.equal(seen.length, 1)
  assert.equal(second.headers['x-inner'], first.headers['x-inner'])
  assert.notEqual(second.headers['x-outer'], first.headers['x-outer'])
  assert.notEqual(second.headers['x-request-id'], first.headers['x-request-id'])
})

test('a body that a step behind has made is kept, and one that a step before makes is not', async (t) => {
  const wrap = (name: string) =>
    ['transform', { response: { template: { inline: `{"${name}":"{{req.id}}","n":{{$}}}` } } }] as const
  const { ask, seen } = await cacheBench(
    t,
    (_, res, count) =>
      res.writeHead(200, { ...FRESH, 'content-type': 'application/json', etag: '"e"' }).end(`{"n":${count}}`),
    {},
    { before: [wrap('outer')], behind: [wrap('inner')] },
  )
  const [first, second] = [await ask('/a'), await ask('/a')].map(({ text }) => JSON.parse(text))
  assert.equal(seen.length, 1)
  assert.ok(first.outer !== undefined && first.n.inner !== undefined, JSON.stringify(first))
  assert.equal(second.n.inner, first.n.inner)
  assert.notEqual(second.outer, first.outer)
  const head = await ask('/b', { method: 'HEAD' })
  assert.match(head.headers['cache-status'] as string, /fwd=uri-miss$/)
})

test('bodies that are filtered behind the cache are not kept, those that are filtered before it are', async (t) => {
  const write = (piece: Uint8Array): Uint8Array =>
    Buffer.from(Buffer.from(piece).toString().replaceAll('secret', '******'))
  const filter = {
    name: 'filtering',
    keepsLength: true,
    begin: () => true,
    write,
    end: () => null,
    close: () => {},
  }
  const step: Step = {
    name: 'filtering',
    onResponse(x) {
      x.filterResponse(filter)
      return null
    },
  }
  const policy: Policy = {
    name: 'filtering',
    summary: '',
    schema: {} as Policy['schema'],
    compile: () => step,
  }
  for (const place of ['before', 'behind']) {
    const { ask, seen } = await cacheBench(
      t,
      (_, res) => res.writeHead(200, FRESH).end('a secret'),
      {},
      { [place]: [['filtering', {}]], policies: [policy] },
    )
    for (let i = 0; i < 2; i++) assert.equal((await ask('/a')).text, 'a ******', place)
    assert.equal(seen.length, place === 'before' ? 1 : 2)
  }
})
