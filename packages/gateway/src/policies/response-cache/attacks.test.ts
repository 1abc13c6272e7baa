import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '../../testing/gateway.js'
import { rawOrigin } from '../../testing/origin.js'
import { type Asked, type CacheBench, cacheBench, request } from '../testing/caching-gateway.js'

// No response for one client reaches another one.

const FRESH = { 'cache-control': 'public, max-age=100' }

/** Starts an upstream with a different, long-lived response to each request. */
function counting(t: TestContext, config: object = {}, headers: object = {}): Promise<CacheBench> {
  return cacheBench(
    t,
    (_, res, count) => res.writeHead(200, { ...FRESH, ...headers }).end(`for request ${count}`),
    config,
  )
}

/** Sends a request as one client and then as another. Returns true if the second gets the response of the first. */
async function leaks(
  { ask }: CacheBench,
  first: readonly [string, Asked?],
  second: readonly [string, Asked?],
) {
  const [a, b] = [await ask(...first), await ask(...second)]
  return a.text === b.text
}

test('personal responses are not cached', async (t) => {
  const bench = await counting(t)
  const secrets: readonly (readonly [string, string])[] = [
    ['authorization', 'Bearer a'],
    ['x-api-key', 'a'],
    ['x-auth-token', 'a'],
    ['cookie', 'session=a'],
  ]
  for (const [i, [name, value]] of secrets.entries()) {
    const path = `/secret-${i}`
    assert.equal(await leaks(bench, [path, { headers: { [name]: value } }], [path]), false, name)
    assert.equal(await leaks(bench, [`${path}b`], [`${path}b`, { headers: { [name]: value } }]), false, name)
  }
  assert.equal(await leaks(bench, ['/plain'], ['/plain']), true, 'the bench itself keeps responses')
})

test('a Set-Cookie of one response is not sent to the next client', async (t) => {
  const bench = await counting(t, {}, { 'set-cookie': 'session=secret' })
  assert.equal(await leaks(bench, ['/a'], ['/a']), false)
  const private_ = await counting(t, {}, { 'cache-control': 'private, max-age=100' })
  assert.equal(await leaks(private_, ['/a'], ['/a']), false)
})

test('responses to credentials are cached only if document and upstream allow it', async (t) => {
  const asked = (key: string): Asked => ({ headers: { authorization: key } })
  const config = { allow: { authorization: true } }
  const silent = await counting(t, config, { 'cache-control': 'max-age=100' })
  assert.equal(await leaks(silent, ['/a', asked('a')], ['/a', asked('b')]), false, 'max-age is no permission')
  const allowed = await counting(t, config)
  assert.equal(await leaks(allowed, ['/a', asked('a')], ['/a', asked('b')]), true)
  const forced = await counting(t, { ...config, forced: { ttl: '1m' } })
  assert.equal(await leaks(forced, ['/a', asked('a')], ['/a', asked('b')]), false)
  assert.equal(await leaks(forced, ['/b', asked('a')], ['/b', asked('a')]), true)
})

test('consumers have responses of their own, whatever stands in their names', async (t) => {
  const keyOf = (name: string) => ({
    id: name,
    sha256: createHash('sha256').update(name).digest('hex'),
  })
  const names = ['acme', 'acme\nx', 'other-consumer']
  const auth = ['api-key', { in: 'query', name: 'k', keys: names.map(keyOf) }] as const
  const key = { query: { except: ['k'] } }
  const serve = (config: object) =>
    cacheBench(t, (_, res, count) => res.writeHead(200, FRESH).end(`${count}`), config, { before: [auth] })
  const apart = await serve({ key })
  assert.equal(await leaks(apart, ['/a?k=acme'], ['/a?k=other-consumer']), false)
  assert.equal(await leaks(apart, ['/b?k=acme'], ['/b?k=acme']), true)
  const shared = await serve({ key, shared: true })
  assert.equal(await leaks(shared, ['/a?k=acme'], ['/a?k=other-consumer']), true)
  const behind = await cacheBench(
    t,
    (_, res, count) => res.writeHead(200, FRESH).end(`${count}`),
    { key },
    { behind: [auth] },
  )
  assert.equal(
    await leaks(behind, ['/a?k=acme'], ['/a?k=acme']),
    false,
    'who it is was decided behind the cache',
  )
})

test('headers that change the meaning of a request are part of the key', async (t) => {
  const bench = await counting(t)
  const names = ['x-forwarded-host', 'x-host', 'x-original-url', 'x-rewrite-url', 'x-http-method-override']
  for (const [i, name] of names.entries()) {
    const path = `/${i}`
    await bench.ask(path, { headers: { [name]: 'evil.example' } })
    const { text } = await bench.ask(path)
    const sent = bench.seen.find(({ url }) => url === path)!
    // A header that does not reach the upstream cannot change its response.
    if (sent.headers[name] === 'evil.example') assert.equal(text, `for request ${bench.seen.length}`, name)
  }
})

test('everything that the upstream may interpret differently is part of the key', async (t) => {
  const bench = await counting(t, { forced: { ttl: '1m', methods: ['GET', 'POST'] } })
  const asked = (headers: Record<string, string>): Asked => ({ headers })
  const posted = (headers: Record<string, string>): Asked => ({ method: 'POST', body: '<a/>', headers })
  for (const name of ['x_original_url', 'X_Tenant', 'front-end-https', 'x-original-path', 'x-url-scheme'])
    assert.equal(await leaks(bench, [`/${name}`, asked({ [name]: 'evil' })], [`/${name}`]), false, name)
  for (const name of ['soapaction', 'content-encoding'])
    assert.equal(
      await leaks(bench, [`/${name}`, posted({ [name]: 'a' })], [`/${name}`, posted({})]),
      false,
      name,
    )
  assert.equal(await leaks(bench, ['/same', posted({})], ['/same', posted({})]), true)
})

test('a relevant parameter cannot hide in an ignored one', async (t) => {
  const bench = await counting(t, { key: { query: { except: ['utm', 'a.b'] } } })
  assert.equal(await leaks(bench, ['/a?id=1&utm=x;id=2'], ['/a?id=1']), false)
  assert.equal(await leaks(bench, ['/b?id=1&utm=x'], ['/b?id=1&u%74m=y&a.b=1']), true)
  await bench.configure({ key: { query: { only: ['user_id'] } } })
  for (const more of ['user.id=2', 'user_id[]=2', 'user+id=2', 'user%5fid=2', 'x=1;user_id=2', ';user_id=2'])
    assert.equal(await leaks(bench, [`/o?user_id=1&${more}`], ['/o?user_id=1']), false, more)
  assert.equal(await leaks(bench, ['/o?user_id=2&other=1'], ['/o?user_id=2']), true)
})

test('hosts, paths and queries that differ in one byte have different keys', async (t) => {
  const bench = await counting(t)
  const pairs: readonly (readonly [string, string])[] = [
    ['/a?b=1', '/a?b=1&'],
    ['/a?b', '/a%3Fb'],
    ['/a/b', '/a/b/'],
    ['/a;x=1', '/a;x=2'],
    ['/a?x=1&y=2', '/a?y=2&x=1'],
    ['/q?a=%0a', '/q?a=%0A'],
    ['/A', '/a'],
  ]
  for (const [a, b] of pairs) assert.equal(await leaks(bench, [a], [b]), false, `${a} ${b}`)
  const host = (name: string): Asked => ({ headers: { host: name } })
  assert.equal(await leaks(bench, ['/h', host('a.example')], ['/h', host('b.example')]), false)
  assert.equal(await leaks(bench, ['/u', host('D.example')], ['/u', host('d.example')]), false)
  assert.equal(await leaks(bench, ['/h', host('c.example')], ['/h', host('c.example:81')]), false)
})

test('parts of the key cannot be combined to look like others', async (t) => {
  const bench = await counting(t, { key: { headers: ['x-a', 'x-b'], cookies: ['c', 'd'] } })
  const asked = (headers: Record<string, string>): Asked => ({ headers })
  const pairs = [
    [
      { 'x-a': '1', 'x-b': '2' },
      { 'x-a': '12', 'x-b': '' },
    ],
    [{ 'x-a': '-' }, {}],
    [{ 'x-a': 'h1:2' }, { 'x-b': '2' }],
    [{ cookie: 'c=1; d=2' }, { cookie: 'c=1;d=3' }],
    [{ cookie: 'c=1; c=2' }, { cookie: 'c=1' }],
  ] as const
  for (const [i, [a, b]] of pairs.entries()) {
    assert.equal(await leaks(bench, [`/${i}`, asked(a)], [`/${i}`, asked(b)]), false, JSON.stringify(a))
    assert.equal(await leaks(bench, [`/${i}`, asked(a)], [`/${i}`, asked(a)]), true, JSON.stringify(a))
  }
})

test('values cached with other settings are not found after a reload', async (t) => {
  const bench = await counting(t, { key: { headers: ['x-tenant'] } })
  const { text } = await bench.ask('/a', { headers: { 'x-tenant': '5' } })
  await bench.configure({ key: { headers: ['x-user'] } })
  assert.notEqual((await bench.ask('/a', { headers: { 'x-user': '5' } })).text, text)
  await bench.configure({ key: { query: { only: ['page'] } } })
  const mine = await bench.ask('/q?page=1&me=a')
  assert.equal((await bench.ask('/q?page=1&me=a')).text, mine.text)
  await bench.configure({})
  assert.notEqual((await bench.ask('/q?page=1')).text, mine.text)
})

test('Vary is honored, and Vary: * prevents reuse', async (t) => {
  const bench = await cacheBench(t, (req, res, count) => {
    res.writeHead(200, { ...FRESH, vary: req.url!.slice(1).replaceAll('_', ', ') }).end(`${count}`)
  })
  const asked = (value: string): Asked => ({ headers: { 'x-v': value } })
  assert.equal(await leaks(bench, ['/x-v', asked('a')], ['/x-v', asked('b')]), false)
  assert.equal(await leaks(bench, ['/x-v', asked('a')], ['/x-v', asked('a')]), true)
  assert.equal(await leaks(bench, ['/X-V_other', asked('a')], ['/X-V_other']), false)
  const written = ['x-forwarded-for', 'X-Forwarded-For', 'x-v_forwarded', 'x-request-id', 'x-real-ip']
  for (const path of [
    ...written.map((name) => `/${name}`),
    '/*',
    '/x-v_*',
    `/${Array.from({ length: 40 }, (_, i) => `f${i}`).join('_')}`,
  ]) {
    assert.equal(await leaks(bench, [path], [path]), false, path)
  }
})

test('a response to a conditional or range request is not cached for others', async (t) => {
  const bench = await cacheBench(t, (req, res, count) => {
    const status = Number(req.headers['x-fails'] ?? 200)
    res.writeHead(status, FRESH).end(`${count}`)
  })
  for (const status of [408, 412, 413, 415, 416, 417, 421, 425, 428, 429, 431]) {
    const { status: first } = await bench.ask(`/${status}`, { headers: { 'x-fails': `${status}` } })
    assert.deepEqual([first, (await bench.ask(`/${status}`)).status], [status, 200])
  }
  await assert.rejects(
    bench.configure({ forced: { ttl: '1m', statuses: [429] } }),
    /429, which applies to a single request/,
  )
})

test('a response in a coding that the upstream does not say it chose is for those who ask alike', async (t) => {
  const bench = await cacheBench(t, (_, res, count) => {
    res.writeHead(200, { ...FRESH, 'content-encoding': 'br' }).end(`${count}`)
  })
  const asked = (value: string): Asked => ({ headers: { 'accept-encoding': value } })
  assert.equal(await leaks(bench, ['/a', asked('br')], ['/a', asked('gzip')]), false)
  assert.equal(await leaks(bench, ['/b', asked('br')], ['/b']), false)
  assert.equal(await leaks(bench, ['/c', asked('br')], ['/c', asked('br')]), true)
})

test('neither a part, nor a response to HEAD or to a request with a body, is taken for the whole', async (t) => {
  const bench = await cacheBench(t, (req, res, count) => {
    if (req.headers.range !== undefined)
      res.writeHead(206, { ...FRESH, 'content-range': 'bytes 0-0/10' }).end('0')
    else
      res
        .writeHead(200, { ...FRESH, 'content-length': '10' })
        .end(req.method === 'HEAD' ? '' : `${count}`.padEnd(10))
  })
  await bench.ask('/a', { headers: { range: 'bytes=0-0' } })
  await bench.ask('/a', { method: 'HEAD' })
  await bench.ask('/a', { method: 'GET', body: 'poison', headers: { 'content-length': '6' } })
  const whole = await bench.ask('/a')
  assert.deepEqual([whole.status, whole.text], [200, '4'.padEnd(10)])
  assert.equal(
    (await bench.ask('/a', { method: 'GET', body: 'poison', headers: { 'content-length': '6' } })).text,
    '5'.padEnd(10),
  )
})

test('truncated, unterminated, oversized and aborted bodies are not cached', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\n'
  let open: net.Socket | null = null
  let asked = 0
  const origin = await rawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      asked++
      const path = chunk.toString().split(' ')[1]!
      if (path === '/short') socket.end(`${head}Content-Length: 10\r\n\r\nabc`)
      else if (path === '/until-close') socket.end(`${head}\r\nabc`)
      else if (path === '/chunk') socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`)
      else {
        socket.write(`${head}Content-Length: 6\r\n\r\nabc`)
        open = socket
      }
    })
  })
  const { gateway } = await cacheBench(t, (_, res) => res.end())
  const policies = [{ id: 'c', use: 'response-cache', with: {}, when: null, onError: 'fail' as const }]
  const upstreams = [{ urls: [origin.url], retry: { attempts: 0 } }]
  await gateway.reload({ upstreams, routes: [{ id: 'all', policies }] })
  for (const path of ['/short', '/until-close', '/chunk']) {
    for (const count of [1, 2]) {
      const before = asked
      await request(gateway.port, path, {}).catch(() => null)
      assert.ok(asked > before, `${path} ${count}`)
    }
  }
  const client = net.connect(gateway.port, '127.0.0.1')
  client.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n')
  await new Promise((resolve) => client.once('data', resolve))
  client.destroy()
  await until(() => gateway.plane.inFlight === 0)
  open!.destroy()
  const again = request(gateway.port, '/left', {})
  const before = asked
  await until(() => asked > before - 1 && open!.destroyed === false)
  open!.end('def')
  assert.equal((await again).text, 'abcdef')
})

test('a slow reader delays others once at most', async (t) => {
  const held: (() => void)[] = []
  const bench = await cacheBench(
    t,
    (_, res, count) => void held.push(() => res.writeHead(200, FRESH).end(`${count}`)),
    { coalesce: { wait: '25s' } },
  )
  const slow = bench.ask('/a')
  await until(() => held.length === 1)
  const now = Date.now.bind(Date)
  t.mock.method(Date, 'now', () => now() + 25_000)
  const second = bench.ask('/a')
  await until(() => held.length === 2)
  const third = bench.ask('/a')
  held[1]!()
  assert.deepEqual([(await second).text, (await third).text], ['2', '2'])
  held[0]!()
  assert.equal((await slow).text, '1')
})

test('random queries take no more than the store has, and what is used stays', async (t) => {
  const { ask, gateway } = await cacheBench(
    t,
    (_, res) => res.writeHead(200, FRESH).end('x'.repeat(20_000)),
    { maxObjectBytes: '30kb', maxBytes: '200kb' },
  )
  const large = await cacheBench(t, (_, res) => res.writeHead(200, FRESH).end('x'.repeat(50_000)), {
    maxObjectBytes: '30kb',
  })
  assert.equal(await leaks(large, ['/a'], ['/a']), true)
  assert.equal(large.seen.length, 2, 'it is larger than maxObjectBytes')
  for (let i = 0; i < 40; i++) {
    await ask(`/a?random=${i}`)
    assert.match((await ask('/used')).headers['cache-status'] as string, i === 0 ? /stored/ : /hit/)
  }
  const sample = (name: string) => gateway.plane.samples().find((one) => one.name === name)!.value
  assert.ok(sample('gw_cache_bytes') <= 200 * 1024)
  assert.ok(sample('gw_cache_evictions_total') >= 30)
})

test('ignored client directives cannot force requests to the upstream', async (t) => {
  const bench = await counting(t, { requestDirectives: 'ignore' })
  await bench.ask('/a')
  for (const directive of ['no-store', 'no-cache', 'max-age=0']) {
    await bench.ask('/a', { headers: { 'cache-control': directive, pragma: 'no-cache' } })
  }
  assert.equal(bench.seen.length, 1)
})

test('tags are names alone: they reach no client and end where they should', async (t) => {
  const bench = await counting(t, {}, { 'surrogate-key': `a b,c  ${'x'.repeat(300)} d` })
  const { headers } = await bench.ask('/a')
  assert.equal(headers['surrogate-key'], undefined)
  assert.equal((await bench.ask('/a')).headers['surrogate-key'], undefined)
  const [found] = bench.gateway.plane.responses.find(`127.0.0.1:${bench.gateway.port}/a`)
  assert.deepEqual(found?.tags, ['a', 'b', 'c', 'd'])
})

test('unsafe requests invalidate the URI, including pending responses', async (t) => {
  const waiting: (() => void)[] = []
  const { ask, seen } = await cacheBench(t, (req, res, count) => {
    const answer = () => res.writeHead(200, { ...FRESH, location: '/other' }).end(`${count}`)
    if (req.url === '/slow' && req.method === 'GET') waiting.push(answer)
    else answer()
  })
  await ask('/a')
  await ask('/other')
  await ask('/a', { method: 'POST', body: 'x' })
  assert.equal((await ask('/a')).text, '4')
  assert.equal((await ask('/other')).text, '5')
  const slow = ask('/slow')
  await until(() => waiting.length === 1)
  await ask('/slow', { method: 'PUT', body: 'x' })
  waiting.shift()!()
  await slow
  const again = ask('/slow')
  await until(() => waiting.length === 1)
  waiting.shift()!()
  await again
  assert.equal(seen.filter(({ url, method }) => url === '/slow' && method === 'GET').length, 2)
})
