import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { installPackage, policyCode } from '@sluice/config/testing'
import { DOCUMENT, failedPaths, passes, project, report, runCases } from './testing.js'

const LIMITED = { request: 'GET /limited' }

test('fake upstreams give the listed responses in order, with delays and failures', async (t) => {
  const order = 'GET /orders/1'
  await passes(t, [
    {
      name: 'a response has the given parts',
      upstreams: {
        orders: { status: 201, headers: { 'x-up': ['1', '2'], 'content-type': 'a/b' }, body: 'made' },
      },
      request: order,
      expect: { response: { status: 201, headers: { 'x-up': '1, 2', 'content-type': 'a/b' }, body: 'made' } },
    },
    {
      name: 'the name of an upstream takes precedence over the star',
      upstreams: { orders: { json: [1] }, '*': { status: 418 } },
      steps: [
        { request: order, expect: { response: { status: 200, json: [1] } } },
        { request: 'POST http://bills.example.com/bills/1', expect: { response: 418 } },
      ],
    },
    {
      name: 'a list is used in order, and its last response repeats',
      upstreams: { billing: [{ status: 201 }, { status: 202 }] },
      steps: [201, 202, 202].map((response) => ({
        request: 'POST http://bills.example.com/bills/1',
        expect: { response },
      })),
    },
    {
      name: 'a step replaces the responses from there on',
      upstreams: { orders: { status: 201 } },
      steps: [
        { request: order, expect: { response: 201 } },
        { request: order, upstreams: { orders: { status: 204 } }, expect: { response: 204 } },
        { request: order, expect: { response: 204 } },
      ],
    },
    {
      name: 'a retry gets the next response',
      upstreams: { orders: [{ status: 503 }, { status: 200 }] },
      request: order,
      expect: { response: 200, upstream: [{}, {}] },
    },
    {
      name: 'a refused connection is no request',
      upstreams: { '*': { fail: 'refused' } },
      request: 'GET /fragile',
      expect: { response: { status: 502, code: 'GW_UPSTREAM_REFUSED' }, upstream: 'none' },
    },
    {
      name: 'a reset follows the request',
      upstreams: { fragile: { fail: 'reset' } },
      request: 'GET /fragile',
      expect: { response: { status: 502, code: 'GW_UPSTREAM_RESET' }, upstream: { name: 'fragile' } },
    },
    {
      name: 'a delay within the timeout takes time of the fake clock',
      upstreams: { orders: { delay: '4s' } },
      request: order,
      expect: { response: 200, record: { 't.total': '/4\\d{3}.*/' } },
    },
    {
      name: 'a delay beyond the timeout',
      upstreams: { orders: { delay: '6s' } },
      request: order,
      expect: { response: { status: 504, code: 'GW_UPSTREAM_TIMEOUT' } },
    },
  ])
})

test('calls of policies get the listed responses, and others fail the case', async (t) => {
  const asked = { request: { path: '/asked', headers: { authorization: 'x' } } }
  const url = 'https://auth.invalid/check'
  const result = await runCases(t, [
    {
      name: 'allowed',
      ...asked,
      calls: { [url]: {} },
      expect: { response: 200, calls: { url, method: 'GET' }, upstream: {} },
    },
    {
      name: 'denied',
      ...asked,
      calls: { [`GET ${url}`]: { status: 403 } },
      expect: { response: 403, policies: { check: 'refused' } },
    },
    {
      name: 'a pattern',
      ...asked,
      calls: { '/.*auth.invalid.*/': {} },
      expect: { response: 200, calls: [{}] },
    },
    { name: 'slow', ...asked, calls: { [url]: { delay: '1h' } }, expect: { response: 503 } },
    {
      name: 'of a step',
      calls: { [url]: { status: 401 } },
      steps: [
        { ...asked, expect: { response: 401 } },
        { ...asked, calls: { [url]: {} }, expect: { response: 200 } },
      ],
    },
    { name: 'unlisted', ...asked, calls: { [`POST ${url}`]: {} } },
  ])
  assert.deepEqual(failedPaths(result), {
    ...{ allowed: '', denied: '', 'a pattern': '', slow: '', 'of a step': '' },
    unlisted: `calls=GET ${url}`,
  })
})

test('limits, caches, breakers and dates follow the clock', async (t) => {
  const stored = { headers: { 'cache-control': 'max-age=60' }, body: 'a' }
  await passes(t, [
    {
      name: 'limit',
      steps: [
        { ...LIMITED, repeat: 2, expect: { response: 200 } },
        { ...LIMITED, expect: { response: { status: 429, code: 'GW_RATE_LIMITED' } } },
        { ...LIMITED, advance: '29s', expect: { response: 429 } },
        { ...LIMITED, advance: '32s', expect: { response: 200 } },
      ],
    },
    {
      name: 'cache',
      upstreams: { orders: stored },
      steps: [
        { request: 'GET /stored', expect: { upstream: {} } },
        {
          request: 'GET /stored',
          advance: '59s',
          expect: { upstream: 'none', response: { body: 'a', headers: { age: '/59|60/' } } },
        },
        { request: 'GET /stored', advance: '2s', expect: { upstream: {} } },
      ],
    },
    {
      name: 'breaker',
      upstreams: { fragile: { fail: 'reset' } },
      steps: [
        { request: 'GET /fragile', repeat: 2, expect: { response: 502 } },
        {
          request: 'GET /fragile',
          expect: { response: { status: 503, code: 'GW_UPSTREAM_CIRCUIT_OPEN' }, upstream: 'none' },
        },
        { request: 'GET /fragile', advance: '2m', upstreams: { fragile: {} }, expect: { response: 200 } },
      ],
    },
    {
      name: 'date',
      at: '2031-05-04T03:02:01+02:00',
      request: 'GET /limited',
      advance: '1h',
      expect: {
        response: { headers: { date: 'Sun, 04 May 2031 02:02:01 GMT' } },
        record: { '@timestamp': '/2031-05-04T02:02:01.*/' },
      },
    },
  ])
})

test('a token expires on the fake clock', async (t) => {
  const key = 'a-secret-of-at-least-32-bytes-for-hs256'
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg: 'HS256' })}.${part({ sub: 'ann', iss: 'i', exp: Date.UTC(2026, 0, 1, 1) / 1000 })}`
  const token = `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  const document = `version: 1
listeners: [{ address: 127.0.0.1:8080 }]
routes:
  - { id: a, match: { path: /a }, respond: { status: 200, body: fine }, policies: [{ id: token, use: jwt, with: { issuers: [i], algorithms: [HS256], keys: [{ secret: ${key} }] } }] }
`
  const request = { path: '/a', headers: { authorization: `Bearer ${token}` } }
  await passes(
    t,
    [
      {
        name: 'expiry',
        at: '2026-01-01T00:30:00Z',
        steps: [
          { request, expect: { response: 200, record: { 'consumer.id': 'ann' } } },
          { request, advance: '2h', expect: { response: { status: 401, code: 'GW_TOKEN_EXPIRED' } } },
        ],
      },
    ],
    document,
  )
})

test('each case has fresh state, and the clock of the process is restored', async (t) => {
  const before = [Date, setTimeout, performance.now]
  const cases = [1, 2, 3].map((i) => ({
    name: `case ${i}`,
    ...LIMITED,
    repeat: 2,
    expect: { response: 200 },
  }))
  await passes(t, cases)
  assert.deepEqual([Date, setTimeout, performance.now], before)
})

test('code of a plugin cannot reach the network', async (t) => {
  const dir = project(
    t,
    {
      'tests/a.test.yaml': [
        {
          name: 'fetch',
          request: 'GET /a',
          expect: { response: { headers: { 'x-error': 'ECONNREFUSED' } } },
        },
      ],
    },
    `version: 1
listeners: [{ address: 127.0.0.1:8080 }]
plugins: [deeds]
routes:
  - { id: a, match: { path: /a }, respond: { status: 200, body: fine }, policies: [{ use: deeds }] }
`,
  )
  const code = policyCode(
    'deeds',
    `return { name: 'deeds', onResponse: async (x) => {
    const error = await fetch('http://127.0.0.1:9999/').catch((error) => error)
    x.responseHeaders.push('x-error', String(error.cause.code))
    return null
  } }`,
  )
  installPackage(dir, { name: 'deeds', version: '1.0.0', code })
  assert.deepEqual(failedPaths(await report(dir)), { fetch: '' })
})

test('variables and secrets that are not set have stand-ins', async (t) => {
  const document = DOCUMENT.replace(
    'http://orders.invalid:9000',
    '"http://${env:GW_TEST_UNSET}:9000"',
  ).replace('http://fragile.invalid', '"http://${env:GW_TEST_OTHER:-other.invalid}"')
  await passes(
    t,
    [
      {
        name: 'unset',
        request: 'GET /orders/1',
        expect: { upstream: { url: '/http:..test-gw_test_unset:9000.*/i' } },
      },
      { name: 'default', request: 'GET /fragile', expect: { upstream: { url: '/http:..other.invalid.*/' } } },
    ],
    document,
  )
})
