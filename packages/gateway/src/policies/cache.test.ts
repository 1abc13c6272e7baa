import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { CachePlan, PolicyUse } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { CacheProcess } from '../cache-server/testing/cache-process.js'
import { startGateway, until } from '../testing/gateway.js'
import { answering, closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'

type Use = readonly [config: object, when?: string]

/** Timeout of the calls, long enough that no test waits in vain for a slow server. */
const PLAN: Omit<CachePlan, 'url'> = {
  token: null,
  timeoutMs: 10_000,
  connections: 8,
  tls: { caFile: null, insecure: false },
}

const keyOf = (name: string): string => `the key of ${name} is long enough`
const API_KEYS: PolicyUse = {
  ...{ id: 'keys', use: 'api-key', when: null, onError: 'fail' },
  with: {
    keys: ['a', 'b'].map((id) => ({ id, sha256: createHash('sha256').update(keyOf(id)).digest('hex') })),
  },
}

const cacheUses = (uses: readonly Use[]): PolicyUse[] =>
  uses.map(([config, when = null], i) => ({
    ...{ id: `cache-${i}`, use: 'cache', with: config, when, onError: 'fail' },
  }))

interface Options {
  readonly cache?: Partial<CachePlan>
  readonly before?: readonly PolicyUse[]
  /** Response of the upstream. Default: the number of requests. */
  readonly answer?: (asked: number) => {
    readonly status?: number
    readonly headers?: object
    readonly body?: string
  }
}

/** Starts a gateway in front of an upstream, with a client. */
async function serve(t: TestContext, uses: readonly Use[], { cache, before = [], answer }: Options = {}) {
  const seen: NodeJS.Dict<string | string[]>[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    const { status = 200, headers = {}, body = String(seen.length) } = answer?.(seen.length) ?? {}
    res.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body)
  })
  const plan = cache === undefined ? {} : { cache: { ...PLAN, url: '', ...cache } }
  const policies = [...before, ...cacheUses(uses)]
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }], ...plan },
    { catalog },
  )
  const send = async (path = '/', more: RequestInit = {}) => {
    const response = await fetch(`${gateway.url}${path}`, more)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const textOf = async (path?: string, more?: RequestInit): Promise<string> => (await send(path, more)).text
  return { gateway, seen, send, textOf }
}

const LOOKUP = { operation: 'lookup', space: 's', key: 'req.path', into: 'reply' }
const POPULATE = { operation: 'populate', space: 's', key: 'req.path', from: 'body', onStoreDown: 'closed' }
const BOTH: readonly Use[] = [[LOOKUP], [POPULATE]]

for (const [name, start] of [
  ['in memory', async () => undefined],
  ['at a cache server', async (t: TestContext) => ({ url: (await CacheProcess.start(t)).url })],
] as const) {
  test(`${name}: a cached value replaces the upstream until it is invalidated or expires`, async (t) => {
    const cache = await start(t)
    const uses: readonly Use[] = [
      [LOOKUP, 'req.method == "GET"'],
      [{ ...POPULATE, ttlFrom: 'res.header["x-ttl"]' }, 'req.method == "GET"'],
      [{ operation: 'invalidate', space: 's', key: 'req.path' }, 'req.method == "DELETE"'],
      [{ operation: 'invalidate', space: 's' }, 'req.method == "PURGE"'],
    ]
    const headers = { 'content-type': 'application/x-test', 'x-ttl': '0.001' }
    const answer = (n: number) =>
      n < 5 ? { headers: { 'content-type': 'application/x-test' } } : { headers }
    const { send, textOf } = await serve(t, uses, { ...(cache === undefined ? {} : { cache }), answer })
    assert.equal(await textOf('/a%2e/%20b'), '1')
    const hit = await send('/a%2e/%20b')
    assert.deepEqual(
      [hit.status, hit.headers.get('content-type'), hit.text],
      [200, 'application/x-test', '1'],
    )
    assert.equal(await textOf('/other'), '2')
    await send('/a%2e/%20b', { method: 'DELETE' })
    assert.deepEqual([await textOf('/other'), await textOf('/a%2e/%20b')], ['2', '4'])
    await send('/', { method: 'PURGE' })
    assert.equal(await textOf('/other'), '6')
    await until(async () => (await textOf('/other')) !== '6')
  })
}

test('conditions see hit and miss, and values are read from and written to variables and fields', async (t) => {
  const uses: readonly Use[] = [
    [{ operation: 'lookup', space: 'who', key: 'req.header["x-sid"]', into: 'header.x-user' }],
    [
      {
        operation: 'populate',
        space: 'seen',
        phase: 'request',
        key: 'req.header["x-sid"]',
        from: 'header.x-user',
        onStoreDown: 'closed',
      },
      'vars["cache.who"] == "hit"',
    ],
    [
      {
        operation: 'populate',
        space: 'who',
        key: 'req.header["x-sid"]',
        from: 'json.user.name',
        onStoreDown: 'closed',
      },
    ],
    [
      {
        operation: 'populate',
        space: 'flag',
        phase: 'request',
        key: '"all"',
        json: { by: '{{req.header.x-sid}}' },
        onStoreDown: 'closed',
      },
    ],
    [{ operation: 'lookup', space: 'flag', key: '"all"', into: 'vars.flag' }],
    [{ operation: 'lookup', space: 'seen', key: 'req.header["x-sid"]', into: 'header.x-again' }],
    [
      { operation: 'lookup', space: 'flag', key: '"all"', into: 'reply', status: 203 },
      'vars.flag.startsWith("{") && req.path == "/flag"',
    ],
  ]
  const body = JSON.stringify({ user: { name: 'Ada' } })
  const { seen, send } = await serve(t, uses, {
    answer: () => ({ headers: { 'content-type': 'application/json' }, body }),
  })
  const headers = { 'x-sid': '1","x":"' }
  await send('/', { headers })
  await send('/', { headers })
  assert.deepEqual(
    seen.map((fields) => [fields['x-user'], fields['x-again']]),
    [
      [undefined, undefined],
      ['Ada', 'Ada'],
    ],
  )
  const flag = await send('/flag', { headers })
  assert.deepEqual(
    [flag.status, JSON.parse(flag.text), flag.headers.get('content-type')],
    [203, { by: '1","x":"' }, 'application/json'],
  )
})

test('attacks: a request with a duplicate part of the key has no key', async (t) => {
  const withKeys = async (key: string[]) =>
    (await serve(t, [[{ ...LOOKUP, key }], [{ ...POPULATE, key, from: 'body' }]])).textOf
  const json = await withKeys(['req.method', 'req.body.json("$.id")'])
  const post = (body: string): RequestInit => ({
    ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
  })
  const query = await withKeys(['req.query["user_id"]'])
  const any = await withKeys(['req.path', 'req.query.id'])
  const header = await withKeys(['req.header["x-id"]'])
  const attempts: readonly (readonly [
    typeof json,
    readonly [string, RequestInit?],
    readonly [string, RequestInit?],
  ])[] = [
    [json, ['/', post('{"id":"a","id":"b"}')], ['/', post('{"id":"b"}')]],
    [json, ['/', post('{"id":"c","i\\u0064":"d"}')], ['/', post('{"id":"d"}')]],
    [query, ['/?user_id=1&user_id=2'], ['/?user_id=1']],
    [query, ['/?user_id=3&user%5Fid=4'], ['/?user_id=3']],
    [query, ['/?user_id=5&user.id=6'], ['/?user_id=5']],
    [query, ['/?user_id=7&user_id[]=8'], ['/?user_id=7']],
    [query, ['/?a=1;user_id=9&user_id=10'], ['/?user_id=10']],
    [any, ['/p?id=1&id=2'], ['/p?id=1']],
    [header, ['/', { headers: { 'x-id': '1', x_id: '2' } }], ['/', { headers: { 'x-id': '1' } }]],
  ]
  for (const [ask, attack, victim] of attempts) {
    const poisoned = await ask(...attack)
    const served = await ask(...victim)
    assert.notEqual(served, poisoned, attack[0])
    assert.equal(await ask(...victim), served, 'the bench itself keeps values')
  }
})

test('a key may read the body of the request, though the value comes with the response', async (t) => {
  const key = ['req.method', 'req.body.json("$.id")']
  const { textOf, send } = await serve(t, [[{ ...LOOKUP, key }], [{ ...POPULATE, key }, 'res.status == 200']])
  const post = (body: string): RequestInit => ({
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(await textOf('/', post('{"id":1}')), '1')
  assert.equal(await textOf('/', post('{"id": 1, "other": 2}')), '1')
  assert.equal(await textOf('/', post('{"id":2}')), '2')
  // A body that is not JSON has no key and is refused.
  assert.match((await send('/', post('{'))).text, /GW_BODY_UNPARSABLE/)
  assert.equal(await textOf('/', post('{"id":3}')), '3')
})

test('errors, partial, coded and large responses and those to HEAD are not cached', async (t) => {
  const answers = [
    { status: 500 },
    { status: 206, headers: { 'content-range': 'bytes 0-0/9' } },
    { headers: { 'content-encoding': 'br' } },
    { body: 'x'.repeat(2000) },
    { body: '' },
  ]
  for (const one of answers) {
    const { seen, send } = await serve(t, [[LOOKUP], [{ ...POPULATE, maxBytes: '1kb' }]], {
      answer: () => one,
    })
    for (let i = 0; i < 2; i++) await fetchQuietly(() => send('/'))
    assert.equal(seen.length, 2, JSON.stringify(one).slice(0, 60))
  }
  const { seen, send, textOf } = await serve(t, BOTH)
  await send('/', { method: 'HEAD' })
  assert.equal(await textOf('/'), '2')
  assert.equal(seen.length, 2)
  const negative = await serve(t, [[{ ...LOOKUP, status: 404 }], [{ ...POPULATE, anyStatus: true }]], {
    answer: () => ({ status: 404 }),
  })
  await negative.send('/')
  assert.equal((await negative.send('/')).status, 404)
  assert.equal(negative.seen.length, 1)
})

/** The client does not support a content coding and says so. */
async function fetchQuietly(send: () => Promise<unknown>): Promise<void> {
  await send().catch(() => {})
}

test('a hit does not extend the lifetime of a value', async (t) => {
  // The populating policy precedes the lookup, so that it sees the response of the lookup.
  const { seen, textOf, gateway } = await serve(t, [[POPULATE], [LOOKUP]])
  await textOf('/')
  await textOf('/')
  assert.equal(seen.length, 1)
  const stored = gateway.plane
    .samples()
    .filter(({ labels }) => /operation="populate",result="stored"/.test(labels))
  assert.deepEqual(
    stored.map(({ value }) => value),
    [1],
  )
})

test('attacks: no caller reaches a value of another consumer, space or key', async (t) => {
  const { url } = await CacheProcess.start(t)
  const uses: readonly Use[] = [
    [{ ...LOOKUP, key: ['req.header["x-a"]', 'req.header["x-b"]'] }],
    [{ ...POPULATE, key: ['req.header["x-a"]', 'req.header["x-b"]'] }],
  ]
  const { textOf } = await serve(t, uses, { cache: { url }, before: [API_KEYS] })
  const ask = (key: string, a: string, b: string): Promise<string> =>
    textOf('/', { headers: { 'x-api-key': keyOf(key), 'x-a': a, 'x-b': b } })
  const known = await ask('a', 'x', 'y')
  assert.equal(await ask('a', 'x', 'y'), known)
  const attempts: readonly [string, string, string][] = [
    ['b', 'x', 'y'],
    ['b', '../@a/x', 'y'],
    ['b', '..', '@a/x/y'],
    ['b', '%2e%2e/@a/x', 'y'],
    ['b', '..%2F..%2Fs%2F@a', 'x/y'],
    ['b', '@a', 'x'],
    ['a', 'x/y', 'y'],
    ['a', 'x/', 'y'],
    ['a', 'x%2Fy', 'y'],
    ['a', '.', 'y'],
    ['a', 'x', 'y?ttl=1ms'],
    ['a', 'x', 'y#'],
    ['a', 'x', `y~${'A'.repeat(43)}`],
    ['a', 'x', 'y'.repeat(2000)],
    ['a', 'x', `${'y'.repeat(2000)}z`],
  ]
  const answers = new Set<string>([known])
  for (const attempt of attempts) {
    const answer = await ask(...attempt)
    assert.ok(!answers.has(answer), `${JSON.stringify(attempt).slice(0, 60)} got ${answer}`)
    answers.add(answer)
    assert.equal(await ask(...attempt), answer)
  }
  // Nothing has left the space, and nothing was purged.
  assert.equal(await ask('a', 'x', 'y'), known)
  assert.equal((await fetch(`${url}/v1/cache/other/@a/x/y`)).status, 404)
})

test('attacks: foreign values in the server cannot add headers or pass as text', async (t) => {
  const { url } = await CacheProcess.start(t)
  const put = (key: string, body: string | Uint8Array, type = 'text/plain'): Promise<Response> =>
    fetch(`${url}/v1/cache/s/${key}`, { method: 'PUT', body, headers: { 'content-type': type } })
  await put('%252F', 'a\r\nset-cookie: stolen=1')
  await put('bytes', Buffer.from([0xff, 0xfe]))
  const { seen, send } = await serve(
    t,
    [
      [
        { operation: 'lookup', space: 's', key: 'req.path', shared: true, into: 'header.x-value' },
        'req.path == "/"',
      ],
      [{ operation: 'lookup', space: 's', key: '"bytes"', shared: true, into: 'vars.bytes' }],
      [
        {
          operation: 'populate',
          space: 's',
          key: '"made"',
          shared: true,
          json: ['{{vars.cache.s}}'],
          onStoreDown: 'closed',
        },
      ],
    ],
    { cache: { url } },
  )
  assert.equal((await send('/')).status, 200)
  assert.equal(seen[0]!['x-value'], undefined)
  assert.equal(await (await fetch(`${url}/v1/cache/s/made`)).text(), '["miss"]')
  // Values of a type that is no longer used are all gone.
  const foreign = await httpOrigin(t, (_, res) => res.setHeader('content-type', 'text/\u00e9').end('value'))
  const replying = await serve(t, [[LOOKUP]], { cache: { url: foreign.url } })
  const { headers, text } = await replying.send('/type')
  assert.deepEqual([headers.get('content-type'), text], ['application/octet-stream', 'value'])
})

test('a killed server: open continues, closed refuses, and a replacement server is used', async (t) => {
  const server = await CacheProcess.start(t)
  const { url } = server
  const closed = { ...LOOKUP, onStoreDown: 'closed' }
  const { textOf, send, gateway } = await serve(t, [[closed, 'req.path == "/closed"'], ...BOTH.slice(0, 1)], {
    cache: { url },
  })
  assert.equal(await textOf('/closed'), '1')
  await server.kill()
  assert.equal(await textOf('/'), '2')
  const refused = await send('/closed')
  assert.deepEqual([refused.status, refused.headers.get('x-gw-error')], [503, 'GW_CACHE_UNAVAILABLE'])
  assert.ok(gateway.events.some(({ event }) => event === 'cache_server_down'))
  await CacheProcess.start(t, { port: server.port })
  await until(async () => (await send('/closed')).status === 200)
})

test('requests continue while a server hangs, and values are found again later', async (t) => {
  const server = await CacheProcess.start(t)
  const { textOf } = await serve(t, [[LOOKUP], [{ ...POPULATE, onStoreDown: 'open' }]], {
    cache: { url: server.url, timeoutMs: 100 },
  })
  // On a busy machine even a working server may be late.
  const isFound = async (): Promise<boolean> => {
    const first = await textOf('/')
    return (await textOf('/')) === first
  }
  await until(isFound)
  server.signal('SIGSTOP')
  const answers = await Promise.all(Array.from({ length: 20 }, () => textOf('/hung')))
  assert.equal(new Set(answers).size, 20)
  server.signal('SIGCONT')
  await until(isFound)
})

test('garbage, a wrong token and oversized values count as an outage or a miss', async (t) => {
  const garbage = await rawOrigin(t, answering('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nx'))
  const large = await httpOrigin(t, (_, res) => res.end(Buffer.alloc(1_100_000)))
  const other = await httpOrigin(t, (_, res) => res.writeHead(302, { location: '/elsewhere' }).end('moved'))
  const secret = await CacheProcess.start(t, { token: 'the token of the server' })
  const down: readonly Partial<CachePlan>[] = [
    { url: garbage.url },
    { url: other.url },
    { url: secret.url },
    { url: secret.url, token: 'another' },
    { url: `http://127.0.0.1:${await closedPort()}` },
  ]
  for (const cache of down) {
    const { send, gateway } = await serve(
      t,
      [[LOOKUP], [{ ...LOOKUP, onStoreDown: 'closed' }, 'req.path == "/closed"']],
      { cache },
    )
    assert.deepEqual([(await send('/')).text, (await send('/closed')).status], ['1', 503])
    assert.ok(!JSON.stringify(gateway.events).includes('another'))
  }
  const { textOf } = await serve(t, [[{ ...LOOKUP, onStoreDown: 'closed' }]], { cache: { url: large.url } })
  assert.equal(await textOf('/'), '1')
  const right = await serve(t, BOTH, { cache: { url: secret.url, token: 'the token of the server' } })
  assert.deepEqual([await right.textOf('/'), await right.textOf('/')], ['1', '1'])
})

test("values beyond the server's limit are not stored, and no request fails", async (t) => {
  const { url } = await CacheProcess.start(t, { maxObjectBytes: 1024 })
  const { textOf, seen } = await serve(t, BOTH, {
    cache: { url },
    answer: () => ({ body: 'x'.repeat(2000) }),
  })
  await textOf('/')
  await textOf('/')
  assert.equal(seen.length, 2)
})
