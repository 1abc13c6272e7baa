import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway, type TestGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

interface Use {
  readonly id?: string
  readonly use?: string
  readonly with: object
}

/**
 * Starts a gateway with one route for each list of policies: `/0/*`, `/1/*`, …. Its upstream reports the cost of
 * requests.
 */
async function serve(t: TestContext, ...routes: readonly (readonly Use[])[]): Promise<TestGateway> {
  const origin = await httpOrigin(t, (req, res) => {
    const cost = new URL(req.url!, 'http://a').searchParams.get('cost')
    res.writeHead(200, cost === null ? {} : { 'x-cost': cost }).end()
  })
  return startGateway(
    t,
    {
      upstreams: [{ urls: [origin.url] }],
      routes: routes.map((uses, i) => ({
        id: `r${i}`,
        match: {
          ...{ hosts: [], methods: [], headers: [], query: [], when: null },
          path: { text: `/${i}/*`, kind: 'prefix', segments: [{ kind: 'literal', text: String(i) }] },
        },
        policies: uses.map((use, at) => ({
          ...{ id: use.id ?? `r${i}/${at + 1}`, use: use.use ?? 'rate-limit', with: use.with },
          ...{ when: null, onError: 'fail' },
        })),
      })) as never,
      listener: { trustedProxies: ['127.0.0.1/32'] },
    },
    { catalog },
  )
}

async function ask(
  gateway: TestGateway,
  path = '/0/',
  headers: Record<string, string> = {},
  init: object = {},
) {
  const answer = await fetch(gateway.url + path, { headers, ...init })
  await answer.arrayBuffer()
  return answer
}

async function statuses(count: number, one: () => Promise<Response>): Promise<number[]> {
  const all: number[] = []
  for (let i = 0; i < count; i++) all.push((await one()).status)
  return all
}

const key = (name: string) => `req.header["${name}"]`

test('over the limit: 429 with Retry-After, and what is left in the fields of the draft', async (t) => {
  const gateway = await serve(t, [{ id: 'plan "a"\n', with: { limit: '2/h' } }])
  const first = await ask(gateway)
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('ratelimit-policy'), '"plan \\"a\\"_";q=2;w=3600')
  assert.match(first.headers.get('ratelimit')!, /^"plan \\"a\\"_";r=1;t=1[78]\d\d$/)
  assert.equal((await ask(gateway)).status, 200)
  const refused = await ask(gateway)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_RATE_LIMITED')
  assert.match(refused.headers.get('retry-after')!, /^1[78]\d\d$/)
  assert.match(refused.headers.get('ratelimit')!, /;r=0;/)
})

test('Retry-After says when a request of this cost can pass', async (t) => {
  const limited = (algorithm: string) => ({ with: { limit: '12/h', algorithm, cost: 5 } })
  const gateway = await serve(t, [limited('gcra')], [limited('sliding')], [limited('fixed')])
  const waits: number[] = []
  for (const path of ['/0/', '/1/', '/2/']) {
    assert.deepEqual(await statuses(2, () => ask(gateway, path)), [200, 200])
    const refused = await ask(gateway, path)
    assert.equal(refused.status, 429)
    waits.push(Number(refused.headers.get('retry-after')))
  }
  const [gcra, sliding, fixed] = waits as [number, number, number]
  // Two tokens are left, and one is added every five minutes.
  assert.ok(gcra > 840 && gcra <= 900, `${gcra} s`)
  assert.ok(sliding >= fixed + 600, `${sliding} s, window of ${fixed} s`)
})

test('headers: legacy shows the tightest limit, off only Retry-After; several policies add to one list', async (t) => {
  const legacy = { limit: ['100/h', '3/d'], algorithm: 'fixed', headers: 'legacy' }
  const gateway = await serve(
    t,
    [{ with: legacy }],
    [{ with: { limit: '1/h', headers: 'off' } }],
    [
      { id: 'a', with: { limit: '9/h' } },
      { id: 'b', use: 'quota', with: { limit: 5, per: 'day' } },
    ],
  )
  const { headers } = await ask(gateway)
  const read = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
  assert.deepEqual(read.slice(0, 2), ['3', '2'])
  assert.ok(Number(read[2]) > 0 && Number(read[2]) <= 86_400)
  assert.equal(headers.get('ratelimit'), null)
  await ask(gateway, '/1/')
  const off = await ask(gateway, '/1/')
  assert.deepEqual(
    [...off.headers.keys()].filter((name) => name.includes('ratelimit')),
    [],
  )
  assert.ok(off.headers.has('retry-after'))
  const both = await ask(gateway, '/2/')
  assert.match(both.headers.get('ratelimit')!, /^"a";r=8;t=\d+, "b";r=4;t=\d+$/)
})

test('limits: all have to allow it, and what one refuses takes nothing from the others', async (t) => {
  const gateway = await serve(t, [{ with: { limit: ['5/h', '2/d'], algorithm: 'fixed', headers: 'legacy' } }])
  assert.deepEqual(await statuses(6, () => ask(gateway)), [200, 200, 429, 429, 429, 429])
  const draft = await serve(t, [{ with: { limit: ['5/h', '2/d'], algorithm: 'fixed' } }])
  await statuses(6, () => ask(draft))
  const policies = (await ask(draft)).headers.get('ratelimit-policy')
  assert.equal(policies, '"r0/1-1";q=5;w=3600, "r0/1-2";q=2;w=86400')
})

test('key: expressions in a list; the values of one cannot look like those of another', async (t) => {
  const gateway = await serve(t, [{ with: { limit: '1/h', key: [key('x-a'), key('x-b')] } }])
  const of = (a: string, b: string) => async () => ask(gateway, '/0/', { 'x-a': a, 'x-b': b })
  for (const [a, b] of [
    ['1|2', '3'],
    ['1', '2|3'],
    ['1\\', '|2|3'],
  ] as const) {
    assert.deepEqual(await statuses(2, of(a, b)), [200, 429], `${a} ${b}`)
  }
})

test('attacks: no client has more by taking another address of its network, or another spelling', async (t) => {
  const lists = [{ limit: '1/h' }, { limit: '1/h', key: ['client.ip', 'route'] }]
  const gateway = await serve(t, ...lists.map((config) => [{ with: config }]))
  for (const path of ['/0/', '/1/']) {
    const from = (address: string) => ask(gateway, path, { 'x-forwarded-for': address })
    const statusesOf = async (...addresses: readonly string[]) =>
      Promise.all(addresses.map(async (address) => (await from(address)).status))
    assert.equal((await from('2001:db8::1')).status, 200)
    assert.deepEqual(
      await statusesOf('2001:DB8:0::1', '2001:db8::9:0:0:2', '2001:db8:0:1::1'),
      [429, 429, 200],
    )
    assert.equal((await from('192.0.2.1')).status, 200)
    assert.deepEqual(await statusesOf('::ffff:192.0.2.1', '192.0.2.1:99', '192.0.2.2'), [429, 429, 200])
  }
})

test('onMissingKey: counts together, refuses, or does not count', async (t) => {
  const missing = (onMissingKey: string) => [{ with: { limit: '1/h', key: key('x-k'), onMissingKey } }]
  const gateway = await serve(t, missing('anonymous'), missing('deny'), missing('skip'))
  assert.deepEqual(await statuses(2, () => ask(gateway)), [200, 429])
  assert.equal((await ask(gateway, '/0/', { 'x-k': 'a' })).status, 200)
  const denied = await ask(gateway, '/1/')
  assert.deepEqual([denied.status, denied.headers.get('x-gw-error')], [403, 'GW_LIMIT_KEY_MISSING'])
  assert.deepEqual(await statuses(3, () => ask(gateway, '/2/', { 'x-k': '' })), [200, 200, 200])
})

test('cost: callers cannot go below the smallest cost or above the largest', async (t) => {
  const limited = (more: object) => [
    {
      with: {
        limit: '100/d',
        algorithm: 'fixed',
        headers: 'legacy',
        cost: 'int(req.header["x-cost"])',
        ...more,
      },
    },
  ]
  const gateway = await serve(t, limited({}), limited({ minCost: 2, maxCost: 10 }), limited({ minCost: 0 }))
  const left = async (path: string, cost: string) =>
    Number((await ask(gateway, path, { 'x-cost': cost })).headers.get('x-ratelimit-remaining'))
  for (const [at, cost] of ['0', '-0', '-7', 'many', '', '0x10', '-1e9'].entries())
    assert.equal(await left('/0/', cost), 99 - at, cost)
  for (const cost of ['99999999999999999999', '1e400', '101'])
    assert.equal((await ask(gateway, '/0/', { 'x-cost': cost })).status, 429, cost)
  for (const [at, [cost, expected]] of [
    ...([
      ['0', 98],
      ['11', 88],
      ['99999999999999999999', 78],
      ['3', 75],
      ['-1', 73],
    ] as const),
  ].entries())
    assert.equal(await left('/1/', cost), expected, `${at} ${cost}`)
  assert.deepEqual(await statuses(120, () => ask(gateway, '/2/', { 'x-cost': '0' })), Array(120).fill(200))
  await assert.rejects(
    serve(t, limited({ minCost: 2, maxCost: 1 })),
    /'minCost' \(2\) is above 'maxCost' \(1\)/,
  )
})

test('cost: of the request, of the response, and nonsense is 1', async (t) => {
  const gateway = await serve(
    t,
    [{ with: { limit: '10/d', algorithm: 'fixed', cost: key('x-cost'), headers: 'legacy' } }],
    [{ with: { limit: '10/d', algorithm: 'fixed', cost: 'res.header["x-cost"]', headers: 'legacy' } }],
    [{ with: { limit: '10/d', algorithm: 'fixed', cost: 4 } }],
  )
  const left = async (path: string, headers = {}) =>
    (await ask(gateway, path, headers)).headers.get('x-ratelimit-remaining')
  assert.equal(await left('/0/', { 'x-cost': '3' }), '7')
  for (const [at, cost] of ['-5', 'NaN', 'many', '-Infinity'].entries()) {
    assert.equal(await left('/0/', { 'x-cost': cost }), String(6 - at), cost)
  }
  assert.equal((await ask(gateway, '/0/', { 'x-cost': '1e400' })).status, 429)
  assert.equal((await ask(gateway, '/0/', { 'x-cost': '99999999999999999999' })).status, 429)
  assert.equal(await left('/0/', { 'x-cost': '0.5' }), '2')
  assert.equal(await left('/1/?cost=4'), '6')
  assert.equal(await left('/1/?cost=0'), '6')
  assert.equal(await left('/1/?cost=-100'), '5')
  assert.equal(await left('/1/?cost=7'), '0')
  assert.equal((await ask(gateway, '/1/')).status, 429)
  assert.deepEqual(await statuses(3, () => ask(gateway, '/2/')), [200, 200, 429])
})

test('counterScope: a shared policy counts for all its routes, or for each', async (t) => {
  const shared = (counterScope: string) => ({ id: counterScope, with: { limit: '1/h', counterScope } })
  const gateway = await serve(t, [shared('policy')], [shared('policy')], [shared('route')], [shared('route')])
  assert.deepEqual([(await ask(gateway, '/0/')).status, (await ask(gateway, '/1/')).status], [200, 429])
  assert.deepEqual([(await ask(gateway, '/2/')).status, (await ask(gateway, '/3/')).status], [200, 200])
  // Inline in routes, equal policies count separately.
  const own = { with: { limit: '1/h' } }
  const apart = await serve(t, [own], [own])
  assert.deepEqual([(await ask(apart, '/0/')).status, (await ask(apart, '/1/')).status], [200, 200])
})

test('dryRun: nothing is refused, and the metrics tell what would have been', async (t) => {
  const gateway = await serve(t, [{ id: 's', with: { limit: '1/h', dryRun: true } }])
  assert.deepEqual(await statuses(3, () => ask(gateway)), [200, 200, 200])
  assert.match((await ask(gateway)).headers.get('ratelimit')!, /r=0/)
  const samples = gateway.plane.samples().filter(({ name }) => name === 'gw_limit_requests_total')
  const counts = samples.map(({ labels, value }) => `${labels} ${value}`)
  assert.deepEqual(counts.sort(), [
    'policy="s",route="r0",result="admitted" 1',
    'policy="s",route="r0",result="shadow" 3',
  ])
})

test('key and cost can be in the body; a response cannot be a key', async (t) => {
  const gateway = await serve(t, [{ with: { limit: '1/h', key: 'req.body.json("$.tenant")' } }])
  const post = (tenant: string) =>
    ask(
      gateway,
      '/0/',
      { 'content-type': 'application/json' },
      { method: 'POST', body: JSON.stringify({ tenant }) },
    )
  assert.equal((await post('a')).status, 200)
  assert.equal((await post('b')).status, 200)
  assert.equal((await post('a')).status, 429)
  await assert.rejects(serve(t, [{ with: { limit: '1/h', key: 'res.header["x"]' } }]), /reads the response/)
  await assert.rejects(serve(t, [{ with: { limit: '1/h', key: 'req.nothing' } }]), /no such key: nothing/)
})

test('quota: 429 with Retry-After until the period ends, by the calendar of the zone', async (t) => {
  const gateway = await serve(t, [{ use: 'quota', with: { limit: 1, per: 'month', timeZone: 'Asia/Tokyo' } }])
  assert.equal((await ask(gateway)).status, 200)
  const refused = await ask(gateway)
  assert.deepEqual([refused.status, refused.headers.get('x-gw-error')], [429, 'GW_QUOTA_EXCEEDED'])
  const now = new Date(Date.now() + 9 * 3_600_000)
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  const off = Number(refused.headers.get('retry-after')) - (end - now.getTime()) / 1000
  assert.ok(Math.abs(off) < 5, `${off}`)
})

test('a reload keeps what was counted, also when the limit is raised', async (t) => {
  const limited = (limit: string) => [{ id: 'p', with: { limit, algorithm: 'fixed' } }]
  const gateway = await serve(t, limited('2/d'))
  assert.deepEqual(await statuses(3, () => ask(gateway)), [200, 200, 429])
  const origin = await httpOrigin(t, (_, res) => res.end())
  const policies = [{ id: 'p', use: 'rate-limit', with: { limit: '4/d', algorithm: 'fixed' } }].map(
    (use) => ({
      ...use,
      when: null,
      onError: 'fail' as const,
    }),
  )
  await gateway.reload({ upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] })
  assert.deepEqual(await statuses(3, () => ask(gateway)), [200, 200, 429])
})

test('a limit a second lets requests through again by itself', async (t) => {
  const gateway = await serve(t, [{ with: { limit: '20/s', burst: 1 } }])
  await statuses(2, () => ask(gateway))
  await until(async () => (await ask(gateway)).status === 200)
})
