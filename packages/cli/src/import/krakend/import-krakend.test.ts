import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { scratch } from '../../testing.js'

const VALIDATOR = {
  alg: 'RS256',
  jwk_url: 'https://login.example.com/keys',
  audience: ['orders'],
  roles: ['admin'],
  roles_key: 'roles',
}
const KRAKEND = {
  version: 3,
  port: 8090,
  timeout: '3s',
  host: ['http://10.0.0.5:9000'],
  extra_config: {
    'security/cors': { allow_origins: ['https://a.example.com'], allow_methods: ['GET'] },
    'telemetry/logging': { level: 'INFO' },
  },
  endpoints: [
    {
      endpoint: '/orders/{id}',
      input_headers: ['*'],
      input_query_strings: ['*'],
      backend: [{ url_pattern: '/v1/orders/{id}' }],
    },
    {
      endpoint: '/limited',
      extra_config: { 'qos/ratelimit/router': { max_rate: 50, client_max_rate: 5, strategy: 'ip' } },
      backend: [{ url_pattern: '/x', host: ['http://10.0.0.6'] }],
    },
    {
      endpoint: '/admin',
      method: 'POST',
      timeout: '800ms',
      extra_config: { 'auth/validator': VALIDATOR },
      backend: [
        {
          url_pattern: '/admin',
          extra_config: { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 3 } },
        },
      ],
    },
    { endpoint: '/merged', backend: [{ url_pattern: '/a' }, { url_pattern: '/b' }] },
    {
      endpoint: '/checked',
      extra_config: { 'validation/cel': [{ check_expr: 'true' }] },
      backend: [{ url_pattern: '/c', deny: ['password'] }],
    },
    { endpoint: '/variable/{a}', backend: [{ url_pattern: '/c/{JWT.sub}?x={a}' }] },
  ],
}

test('endpoints become routes, and what is not mapped is reported or closed', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'krakend.json'), JSON.stringify(KRAKEND, null, 1))
  const { code, stdout, stderr } = await gwInProcess(['import', 'krakend', 'krakend.json'], { cwd: dir })
  assert.equal(code, 2, stderr)
  const { routes, policies, upstreams, listeners } = parse(stdout) as Readonly<Record<string, unknown>>
  assert.deepEqual(listeners, [{ address: '*:8090', engine: 'node' }])
  const summary = (routes as Readonly<Record<string, unknown>>[]).map(
    ({ id, upstream, rewrite, respond, timeouts, policies: chain }) => [
      id,
      upstream ?? respond,
      (rewrite as { path?: string } | undefined)?.path,
      timeouts,
      chain,
    ],
  )
  assert.deepEqual(summary, [
    ['get-orders-id', '10.0.0.5', '/v1/orders/{id}', { total: '3s' }, ['security-cors']],
    [
      'get-limited',
      '10.0.0.6',
      '/x',
      { total: '3s' },
      ['security-cors', 'qos-ratelimit-router', 'qos-ratelimit-router_2'],
    ],
    [
      'post-admin',
      '10.0.0.5_2',
      '/admin',
      { total: '800ms' },
      ['security-cors', 'auth-validator', 'auth-validator_2'],
    ],
    ['get-merged', { status: 501 }, undefined, undefined, ['security-cors']],
    ['get-checked', '10.0.0.5', '/c', { total: '3s' }, ['not-imported', 'security-cors']],
    ['get-variable-a', { status: 503 }, undefined, undefined, ['security-cors']],
  ])
  assert.deepEqual((policies as { with: object }[]).map((one) => one.with).slice(1, 5), [
    { limit: '50/s', key: '"all"' },
    { limit: '5/s', key: 'client.ip' },
    { jwks: { url: VALIDATOR.jwk_url }, algorithms: ['RS256'], audiences: ['orders'], rolesClaim: 'roles' },
    { allow: [{ roles: ['admin'] }] },
  ])
  assert.deepEqual((upstreams as Readonly<Record<string, object>>)['10.0.0.5_2'], {
    targets: ['http://10.0.0.5:9000'],
    breaker: { window: '60s', openFor: '10s', minRequests: 3 },
  })
  assert.match(
    stderr,
    /Security: .*\n {2}krakend\.json:\d+: validation\/cel: it is not mapped; the route returns 503\n {4}use authorize with when/,
  )
  assert.match(stderr, /backend: responses of several backends are not merged; the route answers 501/)
})
