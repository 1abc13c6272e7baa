import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRanks, type PathPlan, type RoutePlan, routeRank } from '@sluice/config'
import { Exchange, type ReceivedExchange } from '@sluice/core'
import fc from 'fast-check'
import { compileRouter } from './router.js'

interface RouteOverrides {
  readonly hosts?: readonly string[]
  readonly path?: string
  readonly methods?: readonly string[]
  readonly headers?: RoutePlan['match']['headers']
  readonly query?: RoutePlan['match']['query']
  readonly priority?: number
}

function routePlan(id: string, order: number, overrides: RouteOverrides): RoutePlan {
  return {
    id,
    order,
    match: {
      hosts: overrides.hosts ?? [],
      path: pathPlan(overrides.path ?? ''),
      methods: overrides.methods ?? [],
      headers: overrides.headers ?? [],
      query: overrides.query ?? [],
      when: null,
    },
    api: null,
    priority: overrides.priority ?? 0,
    criticality: 'normal',
    cpuBudgetMs: null,
    encodedSlashes: 'refuse',
    rewrite: null,
    action: { kind: 'respond', status: 200, headers: [], body: '' },
    timeouts: null,
    websocket: null,
    policies: [],
    log: null,
  }
}

function pathPlan(text: string): PathPlan {
  if (text === '') return { text, kind: 'any', segments: [] }
  if (text.startsWith('~'))
    return { text, kind: 'regex', segments: [{ kind: 'literal', text: text.slice(1) }] }
  const isPrefix = text.endsWith('/*')
  const parts = (isPrefix ? text.slice(0, -2) : text).split('/').slice(1)
  const segments = parts.map((part) =>
    part.startsWith('{')
      ? { kind: 'param' as const, name: part.slice(1, -1) }
      : { kind: 'literal' as const, text: part },
  )
  const kind = isPrefix
    ? 'prefix'
    : segments.some((segment) => segment.kind === 'param')
      ? 'template'
      : 'exact'
  return { text, kind, segments }
}

function requestOf(
  target: string,
  more: { method?: string; host?: string; headers?: string[] } = {},
): Exchange {
  const x: ReceivedExchange = new Exchange()
  const [path, query] = target.split('?')
  x.method = more.method ?? 'GET'
  x.host = more.host ?? 'a.example'
  x.authority = x.host
  x.path = path!
  x.rawPath = path!
  x.query = query ?? ''
  x.headers = more.headers ?? []
  return x
}

function winner(allOverrides: Readonly<Record<string, RouteOverrides>>, x: Exchange): string | null {
  const plans = Object.entries(allOverrides).map(([id, overrides], order) => routePlan(id, order, overrides))
  return compileRouter(plans.map((plan) => ({ plan, when: null, value: plan.id }))).match(x).value
}

const KINDS = {
  regex: { path: '~^/a/.+' },
  prefix: { path: '/a/*' },
  longer: { path: '/a/b/*' },
  template: { path: '/a/{id}' },
  exact: { path: '/a/b' },
  any: {},
}

const PATHS: readonly (readonly [string, string])[] = [
  ['/a/b', 'exact'],
  ['/a/x', 'template'],
  ['/a/b/c', 'longer'],
  ['/a/x/y', 'prefix'],
  ['/a', 'prefix'],
  ['/a/', 'prefix'],
  ['/z', 'any'],
]

for (const [path, expected] of PATHS) {
  test(`${path} goes to the ${expected} route`, () => assert.equal(winner(KINDS, requestOf(path)), expected))
}

test('a regex that a backtracking engine would try forever takes no time for any path', () => {
  for (const source of ['^/(a|aa)+$', '^/(a?){40}a{40}$', '^/.*.*.*.*.*.*=x', '^/(.*)*!']) {
    assert.equal(winner({ regex: { path: `~${source}` } }, requestOf(`/${'a'.repeat(300)}-`)), null, source)
  }
})

test('an exact host beats a wildcard, a longer wildcard a shorter one, and any host comes last', () => {
  const allOverrides = {
    any: { path: '/*' },
    short: { hosts: ['*.example'], path: '/*' },
    long: { hosts: ['*.b.example'], path: '/*' },
    exact: { hosts: ['a.b.example'], path: '/*' },
  }
  const of = (host: string): string | null => winner(allOverrides, requestOf('/x', { host }))
  assert.deepEqual(['a.b.example', 'c.b.example', 'c.example', 'example', 'other'].map(of), [
    'exact',
    'long',
    'short',
    'any',
    'any',
  ])
})

test('a host whose routes do not match the path leaves the request to less specific hosts', () => {
  const allOverrides = { host: { hosts: ['a.example'], path: '/only' }, any: { path: '/*' } }
  assert.equal(winner(allOverrides, requestOf('/other')), 'any')
})

test('priority overrides everything else', () => {
  const allOverrides = { exact: { hosts: ['a.example'], path: '/a/b' }, first: { path: '/*', priority: 1 } }
  assert.equal(winner(allOverrides, requestOf('/a/b')), 'first')
})

test('more predicates win; if one fails, the other routes get the request', () => {
  const headers = [{ name: 'x-tenant', test: 'exact' as const, value: 'acme' }]
  const allOverrides = { plain: { path: '/a' }, tenant: { path: '/a', headers } }
  assert.equal(winner(allOverrides, requestOf('/a', { headers: ['x-tenant', 'acme'] })), 'tenant')
  assert.equal(winner(allOverrides, requestOf('/a', { headers: ['x-tenant', 'other'] })), 'plain')
})

test('a query predicate compares the decoded value', () => {
  const query = [{ name: 'version', test: 'exact' as const, value: '2 b' }]
  assert.equal(winner({ two: { path: '/a', query } }, requestOf('/a?x=1&version=2%20b')), 'two')
  assert.equal(winner({ two: { path: '/a', query } }, requestOf('/a?version=3')), null)
})

test('a known path with another method lists the allowed methods, including HEAD', () => {
  const plans = [
    routePlan('a', 0, { path: '/a', methods: ['GET'] }),
    routePlan('b', 1, { path: '/a', methods: ['PUT'] }),
  ]
  const router = compileRouter(plans.map((plan) => ({ plan, when: null, value: plan.id })))
  assert.deepEqual(router.match(requestOf('/a', { method: 'DELETE' })).allowed, ['GET', 'HEAD', 'PUT'])
  assert.equal(router.match(requestOf('/a', { method: 'HEAD' })).value, 'a')
  assert.equal(router.match(requestOf('/b', { method: 'DELETE' })).allowed, null)
})

test('path parameters are the segments of the canonical path', () => {
  const plan = routePlan('a', 0, { path: '/a/{id}/b/{name}' })
  const x = requestOf('/a/7%2F8/b/c')
  assert.equal(compileRouter([{ plan, when: null, value: 1 }]).match(x).value, 1)
  assert.deepEqual(
    [x.paramNames, x.params],
    [
      ['id', 'name'],
      ['7%2F8', 'c'],
    ],
  )
})

test('a parameter is never an empty segment', () => {
  assert.equal(winner({ a: { path: '/a/{id}' } }, requestOf('/a/')), null)
})

// A linear scan over all routes in the order of their ranks: slow, and obviously right.
function naive(plans: readonly RoutePlan[], x: Exchange): string | null {
  const placed = plans.flatMap((plan) =>
    (plan.match.hosts.length === 0 ? [null] : plan.match.hosts).map((host) => ({ plan, host })),
  )
  const found = placed
    .filter(
      ({ plan, host }) =>
        hostFits(host, x.host) && pathFits(plan.match.path, x.path) && methodFits(plan, x.method),
    )
    .sort((a, b) => compareRanks(routeRank(a.plan, a.host), routeRank(b.plan, b.host)))
  return found[0]?.plan.id ?? null
}

function hostFits(pattern: string | null, host: string): boolean {
  if (pattern === null) return true
  return pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : pattern === host
}

function methodFits(plan: RoutePlan, method: string): boolean {
  return plan.match.methods.length === 0 || plan.match.methods.includes(method)
}

function pathFits({ kind, segments }: PathPlan, path: string): boolean {
  if (kind === 'any') return true
  const parts = path.split('/').slice(1)
  const fits = (length: number): boolean =>
    segments.every(
      (segment, i) => i < length && (segment.kind === 'param' ? parts[i] !== '' : segment.text === parts[i]),
    )
  if (kind === 'prefix') return parts.length >= segments.length && fits(parts.length)
  return parts.length === segments.length && fits(parts.length)
}

test('the router agrees with a linear scan on random routes and requests', () => {
  const part = fc.constantFrom('a', 'b', 'c', '{x}')
  const path = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(
      ([parts, isPrefix]) =>
        `/${parts.map((one, i) => (one === '{x}' ? `{x${i}}` : one)).join('/')}${isPrefix ? '/*' : ''}`,
    )
  const host = fc.constantFrom('a.example', 'b.example', '*.example', '*.a.example')
  const overrides = fc.record({
    hosts: fc.uniqueArray(host, { maxLength: 2 }),
    path,
    methods: fc.uniqueArray(fc.constantFrom('GET', 'POST'), { maxLength: 2 }),
    priority: fc.constantFrom(0, 0, 0, 1),
  })
  const request = fc.record({
    parts: fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { minLength: 1, maxLength: 5 }),
    host: fc.constantFrom('a.example', 'b.example', 'c.a.example', 'other'),
    method: fc.constantFrom('GET', 'POST', 'PUT'),
  })
  fc.assert(
    fc.property(
      fc.array(overrides, { minLength: 1, maxLength: 12 }),
      fc.array(request, { minLength: 1, maxLength: 8 }),
      (allOverrides, requests) => {
        const plans = allOverrides.map((one, order) => routePlan(`r${order}`, order, one))
        const router = compileRouter(plans.map((plan) => ({ plan, when: null, value: plan.id })))
        for (const one of requests) {
          const x = requestOf(`/${one.parts.join('/')}`, one)
          assert.equal(router.match(x).value, naive(plans, x), `${x.method} ${x.host}${x.path}`)
        }
      },
    ),
    { numRuns: 400 },
  )
})

test('no path and no host makes the router throw', () => {
  const plans = ['/a/{x}/*', '/a/b', '~^/(a|b)$', ''].map((path, order) =>
    routePlan(`r${order}`, order, { path }),
  )
  const router = compileRouter(plans.map((plan) => ({ plan, when: null, value: plan.id })))
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (path, host, query) => {
      const x = requestOf(`/${path}`, { host })
      x.query = query
      router.match(x)
    }),
  )
})

test('a preflight uses the route of the requested method, if that route answers preflights', () => {
  const plans = [
    routePlan('answering', 0, { path: '/*', methods: ['GET'] }),
    routePlan('silent', 1, { path: '/a', methods: ['GET'] }),
    routePlan('options', 2, { path: '/*', methods: ['OPTIONS'] }),
  ]
  const router = compileRouter(
    plans.map((plan) => ({ plan, when: null, value: plan.id, answersPreflights: plan.id === 'answering' })),
  )
  const asked = (path: string, method: string): string | null => {
    const headers = ['origin', 'https://a.example', 'access-control-request-method', method]
    const x = requestOf(path, { method: 'OPTIONS', headers })
    const { value } = router.match(x)
    assert.equal(x.method, 'OPTIONS')
    return value
  }
  assert.equal(asked('/b', 'GET'), 'answering')
  assert.equal(asked('/b', 'HEAD'), 'answering')
  assert.equal(asked('/a', 'GET'), 'options', 'the more specific route answers none')
  assert.equal(asked('/b', 'PUT'), 'options')
  assert.equal(asked('/b', 'not a method'), 'options')
  assert.equal(router.match(requestOf('/b', { method: 'OPTIONS' })).value, 'options')
})
