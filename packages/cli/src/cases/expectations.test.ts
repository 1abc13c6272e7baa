import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failedPaths, passes, runCases, type TestCase } from './testing.js'

/** Expectations of one request, and for each what fails: the expectation and the path of the difference. */
const ROWS: readonly {
  readonly request: unknown
  readonly holds: readonly Readonly<Record<string, unknown>>[]
  readonly fails: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[]
}[] = [
  {
    request: {
      method: 'POST',
      path: '/orders/7?page=2',
      json: { a: { b: 1, c: [1, 2] } },
      headers: { 'x-a': 'one' },
    },
    holds: [
      { route: 'orders' },
      { upstream: { name: 'orders', method: 'POST', path: '/v2/orders/7?page=2' } },
      { upstream: [{ url: 'http://orders.invalid:9000/v2/orders/7?page=2' }] },
      { upstream: { headers: { Host: 'orders.invalid:9000', 'x-a': '/o.e/', 'x-none': 'absent' } } },
      { upstream: { body: '{"a":{"b":1,"c":[1,2]}}', json: { a: { c: [1, 2] } } } },
      { calls: 'none' },
      { response: 200 },
      { response: '/2../' },
      { response: { status: 200, code: 'absent', headers: { 'content-type': 'application/json' } } },
      { response: { json: { upstream: 'orders' } } },
      { response: { body: '/.*"orders".*/', headers: {} } },
      { record: { 'http.method': 'POST', route: 'orders', error: 'absent' } },
      { policies: { auth: 'absent' } },
    ],
    fails: [
      [{ route: 'bills' }, /^route=orders$/],
      [{ route: 'none' }, /^route=orders$/],
      [{ upstream: 'none' }, /^upstream=POST http:\/\/orders\.invalid:9000\/v2/],
      [{ upstream: { name: 'billing' } }, /^upstream\.name=orders$/],
      [{ upstream: { method: 'GET' } }, /^upstream\.method=POST$/],
      [{ upstream: { path: '/orders/7' } }, /^upstream\.path=\/v2\/orders\/7\?page=2$/],
      [
        { upstream: { headers: { 'x-a': 'two', 'x-none': 'x' } } },
        /^upstream\.headers\.x-a=one; .*x-none=absent$/,
      ],
      [{ upstream: { headers: { 'x-a': 'absent' } } }, /^upstream\.headers\.x-a=one$/],
      [{ upstream: { body: '/a/' } }, /^upstream\.body=/],
      [{ upstream: { json: { a: { c: [1] } } } }, /^upstream\.json\.a\.c=\[1,2\]$/],
      [{ upstream: [{}, {}] }, /^upstream=1$/],
      [{ calls: { url: 'https://x/' } }, /^calls=none$/],
      [{ response: 201 }, /^response\.status=200$/],
      [{ response: '/4../' }, /^response\.status=200$/],
      [{ response: { code: 'GW_AUTH_MISSING' } }, /^response\.code=absent$/],
      [{ response: { headers: { 'content-type': 'text/plain' } } }, /^response\.headers\.content-type=/],
      [{ response: { body: 'other' } }, /^response\.body=/],
      [{ response: { json: { upstream: '/ord/' } } }, /^response\.json\.upstream=orders$/],
      [
        { record: { 'http.method': 'GET', nothing: 1 } },
        /^record\.http\.method=POST; record\.nothing=absent$/,
      ],
      [{ policies: { auth: 'passed' } }, /^policies\.auth=absent$/],
    ],
  },
  {
    request: 'GET /partners',
    holds: [
      { policies: { auth: 'refused', bot: 'absent' }, upstream: 'none' },
      { policies: { 'api-key': 'refused' }, response: { status: 401, code: 'GW_AUTH_MISSING' } },
      {
        response: { headers: { 'WWW-Authenticate': '/ApiKey.*/' } },
        record: { error: { code: 'GW_AUTH_MISSING' } },
      },
    ],
    fails: [
      [{ policies: { auth: 'passed' } }, /^policies\.auth=refused$/],
      [{ upstream: {} }, /^upstream=none$/],
      [{ record: { error: { code: 'GW_OTHER' } } }, /^record\.error\.code=GW_AUTH_MISSING$/],
    ],
  },
  {
    request: { path: '/partners', headers: { 'x-api-key': 'secret' } },
    holds: [{ policies: { auth: 'passed', bot: 'skipped' }, response: 200 }],
    fails: [[{ policies: { bot: 'passed' } }, /^policies\.bot=skipped$/]],
  },
  {
    request: 'GET /mocked',
    holds: [{ policies: { fake: 'answered' }, response: { status: 202, body: 'mock' } }],
    fails: [[{ policies: { fake: 'refused' } }, /^policies\.fake=answered$/]],
  },
  {
    request: 'GET /nowhere',
    holds: [{ route: 'none', upstream: 'none', response: { status: 404, code: 'GW_ROUTE_NOT_FOUND' } }],
    fails: [[{ route: 'orders' }, /^route=none$/]],
  },
  {
    request: 'GET /json',
    holds: [
      { response: { json: { list: [1, 2], name: 'ann', at: '/n.w/' } } },
      { response: { json: { list: [1, '/./'] } } },
    ],
    fails: [
      [{ response: { json: { list: [1, 3] } } }, /^response\.json\.list\[1\]=2$/],
      [
        { response: { json: { list: [1], name: 'absent' } } },
        /^response\.json\.list=\[1,2\]; response\.json\.name=ann$/,
      ],
      [{ response: { json: { other: 1 } } }, /^response\.json\.other=absent$/],
      [{ response: { json: [] } }, /^response\.json=\{/],
      [{ response: { json: '/[/' } }, /^response\.json=/],
    ],
  },
]

test('each expectation holds for what happens and fails for anything else', async (t) => {
  const cases: TestCase[] = ROWS.flatMap(({ request, holds, fails }, i) => [
    ...holds.map((expect, k) => ({ name: `holds ${i}.${k}`, request, expect })),
    ...fails.map(([expect], k) => ({ name: `fails ${i}.${k}`, request, expect })),
  ])
  const report = await runCases(t, cases)
  assert.equal(report.code, 7, report.stderr)
  const paths = failedPaths(report)
  for (const [i, { holds, fails }] of ROWS.entries()) {
    for (const [k, expect] of holds.entries())
      assert.equal(paths[`holds ${i}.${k}`], '', JSON.stringify(expect))
    for (const [k, [expect, path]] of fails.entries())
      assert.match(paths[`fails ${i}.${k}`]!, path, JSON.stringify(expect))
  }
})

test('a failure names the position of the case, the answer, and why another route was selected', async (t) => {
  const { cases } = await runCases(t, [
    { name: 'wrong method', request: 'GET http://bills.example.com/bills/1', expect: { route: 'bills' } },
    { name: 'no such route', request: 'GET /orders/1', expect: { route: 'oders' } },
    { name: 'no such upstream', request: 'GET /orders/1', upstreams: { order: {} } },
    { name: 'no such consumer', request: { path: '/partners', consumer: 'ann' } },
  ])
  const notes = cases.map(({ failures }) => failures.flatMap((failure) => failure.notes).join('; '))
  assert.match(
    notes[0]!,
    /route bills does not handle it: method GET is not POST; answered with 405 GW_METHOD_NOT_ALLOWED: /,
  )
  assert.match(notes[1]!, /no route 'oders'; did you mean orders\?/)
  assert.match(notes[2]!, /no upstream 'order'; did you mean orders\?/)
  assert.match(notes[3]!, /no policy of the route knows the consumer 'ann'/)
  assert.deepEqual(
    cases.map(({ status }) => status),
    ['failed', 'failed', 'failed', 'failed'],
  )
  assert.equal(cases[0]!.failures[0]!.step, 'GET http://bills.example.com/bills/1')
})

test('requests have the given method, URL, fields, body and client', async (t) => {
  const seen = (request: unknown, upstream: unknown, more: object = {}): TestCase => ({
    name: JSON.stringify(request),
    request,
    expect: { upstream, ...more },
  })
  await passes(t, [
    seen({ path: '/orders/1' }, { method: 'GET', headers: { 'x-forwarded-for': '192.0.2.1' } }),
    seen(
      { path: '/orders/1', method: 'PATCH', body: 'text' },
      { method: 'PATCH', body: 'text', headers: { 'content-type': 'absent' } },
    ),
    seen(
      { path: '/orders/1', method: 'POST', json: [1] },
      { body: '[1]', headers: { 'content-type': 'application/json' } },
    ),
    seen(
      { path: '/orders/1', method: 'POST', form: { a: 'b c', n: 1 } },
      { body: 'a=b+c&n=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ),
    seen(
      { path: '/orders/1', json: 1, headers: { 'Content-Type': 'a/b', 'x-l': ['1', '2'] } },
      { headers: { 'content-type': 'a/b', 'x-l': '1, 2' } },
    ),
    seen({ path: '/orders/1', clientIp: '2001:db8::7' }, { headers: { 'x-forwarded-for': '2001:db8::7' } }),
    seen(
      { path: '/orders/1', clientIp: '10.1.1.1', headers: { 'x-forwarded-for': '203.0.113.9' } },
      { headers: { 'x-forwarded-for': '203.0.113.9, 10.1.1.1' } },
      { record: { 'client.ip': '203.0.113.9' } },
    ),
    seen(
      { path: '/orders/1', clientIp: '127.0.0.1', headers: { 'x-forwarded-for': '203.0.113.9' } },
      { headers: { 'x-forwarded-for': '127.0.0.1' } },
    ),
    seen(
      { path: '/partners', consumer: 'acme' },
      {},
      { policies: { auth: 'passed' }, record: { 'consumer.id': 'acme' } },
    ),
    seen(
      { path: '/partners', consumer: { id: 'ann', groups: ['staff'] } },
      {},
      { record: { 'consumer.id': 'ann' } },
    ),
    {
      name: 'a URL selects the host',
      request: 'POST http://bills.example.com/bills/1',
      expect: {
        route: 'bills',
        upstream: { url: 'https://billing.invalid/bills/1', headers: { host: 'billing.invalid' } },
      },
    },
    {
      name: 'a URL selects the listener',
      request: `GET http://127.0.0.1:8443/orders/${'x'.repeat(2000)}`,
      expect: { response: 200 },
    },
    {
      name: 'the first listener is the default',
      request: `GET /orders/${'x'.repeat(2000)}`,
      expect: { response: 414 },
    },
    { name: 'paths are sent unchanged', request: 'GET /nowhere/../orders/%31', expect: { route: 'orders' } },
  ])
})
