import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { MatchPlan, PolicyUse, RoutePlan } from '@sluice/config'
import type { Catalog, Policy, Step } from '@sluice/core'
import { catalog } from '@sluice/policies'
import { explainRequest } from '../explain/explain-request.js'
import { bundleOf, type PlanOverrides, startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const APP = 'https://app.example.com'
const EVIL = 'https://app.example.com.evil.org'
const ALL: MatchPlan = {
  hosts: [],
  path: { text: '/*', kind: 'prefix', segments: [] },
  methods: [],
  headers: [],
  query: [],
  when: null,
}

function use(name: string, config: object): PolicyUse {
  return { id: name, use: name, with: config, when: null, onError: 'fail' }
}

const CORS = use('cors', { origins: [APP], credentials: true })
const AUTH = use('api-key', { keys: [{ id: 'a', sha256: '0'.repeat(64) }] })
const THROWS = use('throws', {})

/** Policies of the gateway, and one that fails. */
const CATALOG: Catalog = Object.assign(new Map(catalog), catalog, {})
function withThrowing(): Catalog {
  const step: Step = {
    name: 'throws',
    onRequest: () => {
      throw new Error('broken')
    },
  }
  const policy: Policy = {
    name: 'throws',
    summary: '',
    schema: {} as Policy['schema'],
    compile: () => step,
  }
  return new Map([...CATALOG, ['throws', policy]])
}

async function serve(t: TestContext, routes: readonly (Partial<RoutePlan> & { readonly id: string })[]) {
  const asked: string[] = []
  const origin = await httpOrigin(t, (req, res) => {
    asked.push(`${req.method} ${req.url}`)
    res.setHeader('access-control-allow-origin', '*')
    res.setHeader('vary', 'accept')
    res.writeHead(req.url === '/broken' ? 500 : 200).end('hello')
  })
  const overrides: PlanOverrides = { upstreams: [{ urls: [origin.url] }], routes }
  const gateway = await startGateway(t, overrides, { catalog: withThrowing() })
  const send = (path: string, init: RequestInit): Promise<Response> => fetch(`${gateway.url}${path}`, init)
  const preflight = (path: string, method: string, from = APP): Promise<Response> =>
    send(path, { method: 'OPTIONS', headers: { origin: from, 'access-control-request-method': method } })
  return { asked, send, preflight, overrides }
}

test('a preflight is answered before authentication, wherever cors stands in the chain', async (t) => {
  for (const policies of [
    [CORS, AUTH],
    [AUTH, CORS],
  ]) {
    const { asked, preflight } = await serve(t, [{ id: 'all', policies }])
    const response = await preflight('/a', 'PUT')
    assert.equal(response.status, 204)
    assert.equal(response.headers.get('access-control-allow-origin'), APP)
    assert.equal(response.headers.get('access-control-allow-credentials'), 'true')
    const denied = await preflight('/a', 'PUT', EVIL)
    assert.equal(denied.status, 403)
    assert.equal(denied.headers.get('x-gw-error'), 'GW_CORS_DENIED')
    assert.equal(denied.headers.get('access-control-allow-origin'), null)
    assert.deepEqual(asked, [])
  }
})

test('allowed pages, and no others, can read responses, refusals and failures', async (t) => {
  const match = (text: string): MatchPlan => ({
    ...ALL,
    path: { text, kind: 'exact', segments: [{ kind: 'literal', text: text.slice(1) }] },
  })
  const { send } = await serve(t, [
    { id: 'refused', match: match('/refused'), policies: [AUTH, CORS] },
    { id: 'failed', match: match('/failed'), policies: [THROWS, CORS] },
    { id: 'rest', policies: [CORS] },
  ])
  for (const [path, status] of [
    ['/refused', 401],
    ['/failed', 500],
    ['/broken', 500],
    ['/ok', 200],
  ] as const) {
    const readable = await send(path, { headers: { origin: APP } })
    assert.equal(readable.status, status)
    assert.equal(readable.headers.get('access-control-allow-origin'), APP, path)
    assert.match(readable.headers.get('vary')!, /Origin/)
    const hidden = await send(path, { headers: { origin: EVIL } })
    assert.equal(hidden.status, status)
    assert.equal(hidden.headers.get('access-control-allow-origin'), null, path)
    assert.match(hidden.headers.get('vary')!, /Origin/)
  }
})

test('a preflight goes to the route of the request it asks for, if that has cors; else as before', async (t) => {
  const routes = [
    { id: 'read', match: { ...ALL, methods: ['GET'] }, policies: [CORS] },
    { id: 'write', match: { ...ALL, methods: ['POST'] }, policies: [AUTH] },
    { id: 'options', match: { ...ALL, methods: ['OPTIONS'] } },
  ]
  const { asked, preflight, send, overrides } = await serve(t, routes)
  assert.equal((await preflight('/read', 'GET')).status, 204)
  assert.equal((await preflight('/head', 'HEAD')).status, 204)
  assert.deepEqual(asked, [])
  await preflight('/write', 'POST')
  await preflight('/delete', 'DELETE')
  await send('/plain', { method: 'OPTIONS', headers: { origin: APP } })
  assert.deepEqual(asked, ['OPTIONS /write', 'OPTIONS /delete', 'OPTIONS /plain'])

  const request = { method: 'OPTIONS', url: '/read', body: null, clientIp: '127.0.0.1' }
  const headers = [
    ['origin', APP],
    ['access-control-request-method', 'GET'],
  ] as const
  const explained = await explainRequest(bundleOf(overrides), catalog, { ...request, headers })
  assert.equal(explained.route?.id, 'read')
})

test('without a route for OPTIONS the method stays refused for all but preflights', async (t) => {
  const { preflight, send } = await serve(t, [
    { id: 'read', match: { ...ALL, methods: ['GET'] }, policies: [CORS] },
  ])
  assert.equal((await preflight('/a', 'GET')).status, 204)
  assert.equal((await preflight('/a', 'PUT')).status, 405)
  assert.equal((await send('/a', { method: 'OPTIONS', headers: { origin: APP } })).status, 405)
})

test('gw explain shows cors where it stands: first', async () => {
  const overrides = {
    upstreams: [{ urls: ['http://127.0.0.1:9'] }],
    routes: [{ id: 'all', policies: [AUTH, CORS] }],
  }
  const request = { method: 'GET', url: '/a', headers: [], body: null, clientIp: '127.0.0.1' }
  const { route } = await explainRequest(bundleOf(overrides), catalog, request)
  assert.deepEqual(
    route!.policies.map(({ id, buffers }) => [id, buffers]),
    [
      ['cors', []],
      ['api-key', []],
    ],
  )
})

test('cors takes no condition: a preflight could reach the upstream otherwise', async (t) => {
  const policies = [{ ...CORS, when: 'req.host == "a"' }]
  await assert.rejects(serve(t, [{ id: 'all', policies }]), /policy 'cors' \(cors\): does not support 'when'/)
})
