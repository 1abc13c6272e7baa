import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import type { Catalog, Policy } from '@sluice/core'
import fc from 'fast-check'
import { type ExplainedRequest, type Explanation, explainRequest } from './explain/explain-request.js'

const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' }, key: { type: 'string', secret: true } },
}
const mark: Policy = {
  name: 'mark',
  summary: 'Does nothing.',
  schema: SCHEMA as unknown as Policy['schema'],
  compile: () => null,
}
const catalog: Catalog = new Map([[mark.name, mark]])

const HEAD = `version: 1
listeners: [{ address: "127.0.0.1:8080", health: true, trustedProxies: [10.0.0.0/8], limits: { urlBytes: 256b } }]
upstreams: { up: { targets: ["http://10.0.0.1:9000", { url: "http://10.0.0.2:9000", weight: 2 }] } }
`

function explain(routes: string, url: string, request: Partial<ExplainedRequest> = {}): Promise<Explanation> {
  const whole = { method: 'GET', url, headers: [], body: null, clientIp: '192.0.2.1', ...request }
  const bundle = loadOrThrow(`${HEAD}routes:\n${routes}`, catalog, { HIDDEN: 'hidden-value' })
  return explainRequest(bundle, catalog, whole)
}

function reasonOf(explanation: Explanation, id: string): string | undefined {
  return explanation.losers.find((loser) => loser.id === id)?.reason
}

test('the selected route is reported with its parameters, target, timeouts and limits', async () => {
  const { outcome, route, losers } = await explain(
    `  - { id: item, match: { path: "/a/{id}" }, rewrite: { path: "/v2/{id}" }, upstream: up, timeouts: { total: 5s } }`,
    '/a/7?x=1',
  )
  assert.equal(outcome, 'routed')
  assert.deepEqual(losers, [])
  assert.equal(route?.id, 'item')
  assert.deepEqual(route?.params, { id: '7' })
  assert.equal(route?.timeouts?.totalMs, 5000)
  assert.equal(route?.limits.urlBytes, 256)
  assert.ok(route?.action.kind === 'proxy')
  assert.equal(route.action.path, '/v2/7?x=1')
  assert.equal(route.action.host, '127.0.0.1:8080')
  assert.deepEqual(
    route.action.targets.map(({ url, weight }) => [url, weight]),
    [
      ['http://10.0.0.1:9000', 1],
      ['http://10.0.0.2:9000', 2],
    ],
  )
})

test('escapes are explained as a listener handles them', async () => {
  const routes = `
  - { id: batch, match: { path: "/odata/%24batch" }, upstream: up }
  - { id: all, match: { path: "/*" }, upstream: up }`
  const written = await explain(routes, '/odata/%24batch?')
  assert.equal(written.route?.id, 'batch')
  assert.ok(written.route.action.kind === 'proxy')
  assert.equal(written.route.action.path, '/odata/%24batch?')
  assert.equal((await explain(routes, '/odata/$batch')).route?.id, 'batch')
})

test('each rejected route names the first predicate that fails', async () => {
  const routes = `
  - { id: host, match: { hosts: [api.example.com, "*.example.org"], path: /a }, upstream: up }
  - { id: path, match: { path: /b }, upstream: up }
  - { id: method, match: { path: /a, methods: [POST, PUT] }, upstream: up }
  - { id: header, match: { path: /a, headers: { x-tenant: acme } }, upstream: up }
  - { id: absent, match: { path: /a, headers: { x-tenant: { present: false } } }, upstream: up }
  - { id: query, match: { path: /a, query: { v: "2" } }, upstream: up }
  - { id: when, match: { path: /a, when: 'client.ip == "10.0.0.1"' }, upstream: up }
  - { id: less, match: { path: /* }, upstream: up }
  - { id: won, match: { path: /a }, upstream: up }`
  const explanation = await explain(routes, '/a', { headers: [['x-tenant', 'other']] })
  assert.equal(explanation.route?.id, 'won')
  assert.deepEqual(
    Object.fromEntries(explanation.losers.map(({ id, failed, reason }) => [id, `${failed}: ${reason}`])),
    {
      host: 'host: host 127.0.0.1 is not *.example.org or api.example.com',
      path: 'path: path /a does not match /b',
      method: 'method: method GET is not POST or PUT',
      header: "header: header x-tenant is 'other', not 'acme'",
      absent: 'header: header x-tenant is present',
      query: "query: query parameter v is not '2'",
      when: 'when: condition client.ip == "10.0.0.1" is false',
      less: 'order: matches too, but won has a more specific path',
    },
  )
})

test('another matching route shows the advantage of the winner', async () => {
  const over = async (winner: string, loser: string): Promise<string | undefined> =>
    reasonOf(
      await explain(
        `  - { id: l, ${loser}, upstream: up }\n  - { id: w, ${winner}, upstream: up }`,
        'http://a.example.org/p/q',
      ),
      'l',
    )
  const [path, host] = ['match: { path: /p/q }', 'match: { hosts: [a.example.org] }']
  assert.equal(
    await over('match: { path: /* }, priority: 1', path),
    'matches too, but w has a higher priority',
  )
  assert.equal(await over(host, path), 'matches too, but w has a more specific host')
  assert.equal(
    await over(host, 'match: { hosts: ["*.example.org"], path: /p/q }'),
    'matches too, but w has a more specific host',
  )
  assert.equal(
    await over('match: { path: /p/* }', 'match: { path: /* }'),
    'matches too, but w has a more specific path',
  )
  assert.equal(
    await over('match: { path: /p/q, methods: [GET] }', path),
    'matches too, but w has more predicates',
  )
  assert.equal(
    reasonOf(
      await explain(
        '  - { id: w, match: { path: ~^/p }, upstream: up }\n  - { id: l, match: { path: ~q$ }, upstream: up }',
        '/p/q',
      ),
      'l',
    ),
    'matches too, but w comes earlier in the document',
  )
})

test('a request without a route is refused as in a worker', async () => {
  const routes = '  - { id: a, match: { path: /a, methods: [GET, POST] }, upstream: up }'
  assert.deepEqual((await explain(routes, '/b')).refusal?.status, 404)
  const wrong = await explain(routes, '/a', { method: 'DELETE' })
  assert.deepEqual(wrong.refusal, {
    status: 405,
    code: 'GW_METHOD_NOT_ALLOWED',
    detail: 'this path accepts GET, HEAD, POST',
  })
  assert.equal(wrong.route, null)
})

test('a request refused by the listener never reaches a route', async () => {
  const routes = '  - { id: all, match: { path: /* }, upstream: up }'
  const cases: readonly (readonly [string, Partial<ExplainedRequest>, number])[] = [
    ['/a%zz', {}, 400],
    ['/a b', {}, 400],
    [`/${'a'.repeat(300)}`, {}, 414],
    ['/', { method: 'TRACE' }, 501],
    ['/', { method: 'G T' }, 400],
    ['/', { headers: [['x-name', 'J\u00fcrgen']] }, 400],
    ['/', { headers: [['host', 'a b']] }, 400],
    ['/', { headers: [['content-length', 'x']] }, 400],
  ]
  for (const [url, request, status] of cases) {
    const { outcome, refusal, losers } = await explain(routes, url, request)
    assert.deepEqual(
      [outcome, refusal?.status, losers.length],
      ['refused', status, 0],
      `${url} ${JSON.stringify(request)}`,
    )
  }
})

test('the listener answers its health checks itself', async () => {
  assert.equal(
    (await explain('  - { id: all, match: { path: /* }, upstream: up }', '/-/readyz')).outcome,
    'health',
  )
})

test('a path is matched and forwarded in its canonical form', async () => {
  const { request, route } = await explain('  - { id: a, match: { path: /a/* }, upstream: up }', '/a//%61;v')
  assert.equal(request.path, '/a/a')
  assert.ok(route?.action.kind === 'proxy')
  assert.equal(route.action.path, '/a/a;v')
})

test('an escaped slash is refused unless the route keeps it', async () => {
  const route = 'match: { path: "/a/{id}" }, upstream: up'
  const refused = await explain(`  - { id: a, ${route} }`, '/a/b%2fc')
  assert.deepEqual([refused.outcome, refused.refusal?.code], ['refused', 'GW_BAD_REQUEST'])
  const kept = await explain(`  - { id: a, ${route}, encodedSlashes: keep }`, '/a/b%2fc')
  assert.ok(kept.route?.action.kind === 'proxy')
  assert.equal(kept.route.action.path, '/a/b%2Fc')
  for (const url of ['/a/..%2fc', '/a/..;v', '/a/b%2f..'])
    assert.equal(
      (await explain(`  - { id: a, ${route}, encodedSlashes: keep }`, url)).outcome,
      'refused',
      url,
    )
})

test('host and client come from the URL, the header fields and trusted proxies', async () => {
  const routes = '  - { id: a, match: { path: /* }, upstream: up }'
  assert.equal((await explain(routes, 'https://API.example.com:8443')).request.host, 'api.example.com')
  const headers = [
    ['host', 'other.example.com'],
    ['x-forwarded-for', '198.51.100.7'],
  ] as const
  assert.equal(
    (await explain(routes, 'http://api.example.com/', { headers })).request.host,
    'other.example.com',
  )
  assert.equal((await explain(routes, '/', { headers })).request.clientIp, '192.0.2.1')
  assert.equal(
    (await explain(routes, '/', { headers, clientIp: '10.1.1.1' })).request.clientIp,
    '198.51.100.7',
  )
})

test('conditions of policies are evaluated where the request suffices', async () => {
  const policies = [
    '"req.method == \\"GET\\""',
    '"req.header[\\"x\\"] == \\"1\\""',
    '"consumer.id == \\"c\\""',
    '"1 == 2"',
  ]
    .map((when) => `{ use: mark, with: { text: t }, when: ${when} }`)
    .join(', ')
  const { route } = await explain(
    `  - { id: a, match: { path: /* }, upstream: up, policies: [{ use: mark, with: { text: t } }, ${policies},
        { use: mark, with: { text: t }, when: 'int(req.path) == 1' }] }`,
    '/',
  )
  assert.deepEqual(
    route?.policies.map(({ verdict }) => verdict),
    ['always', 'true', 'false', 'unknown', 'false', 'fails'],
  )
})

test('neither secrets nor the values of references are reported', async () => {
  const routes = `
  - { id: token, match: { path: /a, headers: { x-token: "\${env:HIDDEN}" } }, upstream: up }
  - id: won
    match: { path: /a }
    upstream: up
    policies: [{ use: mark, with: { text: "\${env:HIDDEN}", key: plain-secret } }]`
  const explanation = await explain(routes, '/a', { headers: [['x-token', 'mine']] })
  assert.equal(reasonOf(explanation, 'token'), "header x-token is 'mine', not '${env:HIDDEN}'")
  assert.equal((await explain(routes, '/a', { headers: [['x-token', 'hidden-value']] })).route?.id, 'token')
  assert.doesNotMatch(JSON.stringify(explanation), /hidden-value|plain-secret/)
  assert.deepEqual(explanation.route?.policies[0]?.with, { text: '${env:HIDDEN}', key: '***' })
})

test('secrets in a match, a rewrite or a condition are not reported', async () => {
  const random = 'zq7-4f9a8b7c6d5e4f3a2b1c'
  const routes = `
  - id: gate
    match: { path: /a, headers: { x-origin-verify: ${random} }, query: { k: ${random} } }
    rewrite: { path: "/in/${random}" }
    upstream: up
    policies: [{ use: mark, with: { text: a, key: b }, when: 'req.header["x-b"] == "${random}"' }]
  - { id: away, match: { path: /away }, redirect: { path: "/to/${random}" } }
  - { id: won, match: { path: /a }, upstream: up }`
  const missed = await explain(routes, '/a', { headers: [['x-origin-verify', 'guess']] })
  assert.equal(reasonOf(missed, 'gate'), "header x-origin-verify is 'guess', not '***'")
  const parameter = await explain(routes, '/a?k=guess', { headers: [['x-origin-verify', random]] })
  assert.equal(reasonOf(parameter, 'gate'), "query parameter k is not '***'")
  const away = await explain(routes, '/away')
  assert.doesNotMatch(JSON.stringify([missed, parameter, away]), /zq7/)
  const taken = await explain(routes, `/a?k=${random}`, { headers: [['x-origin-verify', random]] })
  assert.doesNotMatch(JSON.stringify(taken.route), /zq7/)
})

test('actions are computed from referenced values without reporting the values', async () => {
  const routes = `
  - { id: hook, match: { path: "/in/\${env:HIDDEN}" }, rewrite: { path: "/out/\${env:HIDDEN}" }, upstream: up }
  - { id: away, match: { path: /away }, redirect: { path: "/\${env:HIDDEN}" } }`
  const taken = await explain(routes, '/in/hidden-value')
  assert.deepEqual([taken.route?.id, taken.route?.path], ['hook', '/in/${env:HIDDEN}'])
  assert.ok(taken.route?.action.kind === 'proxy' && taken.route.action.path === null)
  const away = await explain(routes, '/away')
  assert.ok(away.route?.action.kind === 'redirect' && away.route.action.location === null)
  assert.equal(reasonOf(away, 'hook'), 'path /away does not match /in/${env:HIDDEN}')
  assert.doesNotMatch(JSON.stringify(away), /hidden-value/)
})

test('redirects and fixed responses are reported with their results', async () => {
  const routes = `
  - { id: old, match: { path: /old/* }, redirect: { status: 308, prefix: /new } }
  - { id: fixed, match: { path: /fixed }, respond: { status: 204 } }`
  assert.deepEqual((await explain(routes, '/old/x?y=1')).route?.action, {
    kind: 'redirect',
    status: 308,
    location: '/new/x?y=1',
  })
  assert.deepEqual((await explain(routes, '/fixed')).route?.action, { kind: 'respond', status: 204 })
})

test('input that is neither a path nor a URL is refused with a remedy', async () => {
  for (const url of ['orders', '', 'ftp://a/b', '?x=1']) {
    await assert.rejects(explain('  - { id: a, match: { path: /* }, upstream: up }', url), {
      name: 'RangeError',
      message: /is neither a path nor a URL; write/,
    })
  }
})

test('a route is reported as matching exactly if it matches on its own', async () => {
  const segment = fc.constantFrom('a', 'b', '{x}')
  const path = fc
    .tuple(fc.array(segment, { maxLength: 3 }), fc.constantFrom('', '/*'))
    .map(([parts, end]) =>
      `/${parts.map((part, i) => part.replace('x', `p${i}`)).join('/')}${end}`.replace('//', '/'),
    )
  const match = fc.record({
    hosts: fc.constantFrom('', 'hosts: [x.y], ', 'hosts: ["*.y"], '),
    path,
    methods: fc.constantFrom('', ', methods: [GET]', ', methods: [POST]'),
  })
  const url = fc.tuple(
    fc.constantFrom('', 'http://x.y', 'http://z.y'),
    fc.array(fc.constantFrom('a', 'b', ''), { minLength: 1, maxLength: 4 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(match, { minLength: 1, maxLength: 4 }), url, async (matches, [host, parts]) => {
      const routes = matches.map(
        ({ hosts, path, methods }, i) =>
          `  - { id: r${i}, priority: ${i}, match: { ${hosts}path: "${path}"${methods} }, upstream: up }`,
      )
      const target = `${host}/${parts.join('/')}`
      const { route, losers } = await explain(routes.join('\n'), target)
      for (const [i, text] of routes.entries()) {
        const isMatch = (await explain(text, target)).route !== null
        const failed = losers.find(({ id }) => id === `r${i}`)?.failed
        assert.equal(
          isMatch,
          route?.id === `r${i}` || failed === 'order',
          `r${i} of ${routes.join(' ')} for ${target}`,
        )
      }
    }),
    { numRuns: 60 },
  )
})

test('the canary decision is shown, by explicit request or by key', async () => {
  const targets = '[http://a, { url: http://b, role: canary }, { url: http://c, role: mirror }]'
  const sideOf = async (canary: string, ...headers: [string, string][]): Promise<unknown> => {
    const head = `version: 1\nlisteners: [{ address: ':8080' }]\n`
    const upstreams = `upstreams: { up: { targets: ${targets}, canary: ${canary}, mirror: { percent: 25% } } }\n`
    const load = loadOrThrow(`${head}${upstreams}routes: [{ id: all, upstream: up }]`, catalog, {})
    const request = { method: 'GET', url: '/', headers, body: null, clientIp: '192.0.2.1' }
    const { route } = await explainRequest(load, catalog, request)
    assert.ok(route?.action.kind === 'proxy')
    assert.equal(route.action.mirrored, 0.25)
    return route.action.canary
  }
  assert.equal(await sideOf('{ match: [header:x-canary] }', ['x-canary', '1']), 'match')
  assert.equal(await sideOf('{ match: [header:x-canary] }'), 'none')
  assert.equal(await sideOf('{ percent: 100% }'), 'key')
})
