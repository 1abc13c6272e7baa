import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

interface Seen {
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Starts a gateway with these policies in front of an origin that echoes requests, or responds as the test says. */
async function serve(t: TestContext, uses: readonly (readonly [string, object])[], reply?: string) {
  const seen: Seen[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push({ body, headers: req.headers })
    res.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end(reply ?? body)
  })
  const policies = uses.map(([use, config]) => ({
    id: use,
    use,
    with: config as Record<string, unknown>,
    when: null,
    onError: 'fail' as const,
  }))
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] },
    { catalog },
  )
  const send = async (body: string | undefined, path = '/', headers: Record<string, string> = {}) => {
    const type = { 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...type, ...headers },
      ...(body !== undefined && { body }),
    })
    return { response, status: response.status, text: await response.text() }
  }
  return { seen, send }
}

const ORDER = {
  type: 'object',
  required: ['symbol'],
  properties: { symbol: { type: 'string', pattern: '^[A-Z]+$' }, volume: { type: 'integer', default: 1 } },
}

test('json-schema: a valid body reaches the upstream with its defaults, another one does not', async (t) => {
  const { seen, send } = await serve(t, [
    ['json-schema', { schema: { inline: ORDER }, applyDefaults: true, maxBodyBytes: '100kb' }],
  ])
  assert.deepEqual(await send('{"symbol":"IBM"}').then(({ status, text }) => [status, text]), [
    200,
    '{"symbol":"IBM","volume":1}',
  ])
  assert.equal(seen[0]?.headers['content-length'], '27')
  const refused = await send('{"symbol":"ibm"}')
  assert.equal(refused.status, 400)
  assert.equal(refused.response.headers.get('x-gw-error'), 'GW_SCHEMA_INVALID')
  const problem = JSON.parse(refused.text)
  assert.equal(problem.detail, '/symbol must match pattern "^[A-Z]+$"')
  assert.equal((await send('{"symbol":')).response.headers.get('x-gw-error'), 'GW_BODY_UNPARSABLE')
  assert.equal((await send('{}', '/', { 'content-encoding': 'gzip' })).status, 415)
  assert.equal((await send(`"${'x'.repeat(110_000)}"`)).status, 413)
  assert.equal(seen.length, 1)
})

test('json-schema: large bodies are checked on a thread of the worker', async (t) => {
  const { send } = await serve(t, [
    ['json-schema', { schema: { inline: { type: 'array', items: { type: 'integer' } } } }],
  ])
  const numbers = Array.from({ length: 20_000 }, (_, i) => i).join()
  const results = await Promise.all(
    ['', ',"x"', '', ',null'].map(async (end) => (await send(`[${numbers}${end}]`)).status),
  )
  assert.deepEqual(results, [200, 400, 200, 400])
  assert.equal(JSON.parse((await send(`[${numbers},"x"]`)).text).detail, '/20000 must be integer')
})

test('json-schema: a response that is not valid is not delivered', async (t) => {
  const { send } = await serve(
    t,
    [['json-schema', { schema: { inline: ORDER }, phase: 'response' }]],
    '{"symbol":5}',
  )
  const { response, status, text } = await send('anything')
  assert.equal(status, 502)
  assert.equal(response.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
  assert.doesNotMatch(text, /symbol/)
})

const API = {
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { responses: { 200: { description: 'd', content: { 'application/json': { schema: ORDER } } } } },
      post: {
        requestBody: { required: true, content: { 'application/json': { schema: ORDER } } },
        responses: { 200: { description: 'd' } },
      },
    },
  },
}

test('openapi: requests have to be described, responses that are not are marked', async (t) => {
  const { seen, send } = await serve(t, [['openapi', { description: { inline: API } }]], '{"symbol":5}')
  const marked = await send(undefined, '/orders/7')
  assert.deepEqual([marked.status, marked.text], [200, '{"symbol":5}'])
  assert.equal(marked.response.headers.get('x-gw-validation'), 'failed')
  const unmarked = await send('{"symbol":"A"}', '/orders/7')
  assert.deepEqual([unmarked.status, unmarked.response.headers.get('x-gw-validation')], [200, null])
  assert.equal(seen.length, 2)
  const wrong: [number, string | undefined, string][] = [
    [400, undefined, '/orders/x'],
    [404, undefined, '/order/7'],
    [400, '{"symbol":1}', '/orders/7'],
    [400, '', '/orders/7'],
  ]
  for (const [status, body, path] of wrong) assert.equal((await send(body, path)).status, status, path)
  assert.equal((await send('<a/>', '/orders/7', { 'content-type': 'text/xml' })).status, 415)
  assert.equal(seen.length, 2)
})

test('openapi: responses can be refused', async (t) => {
  const policies = [['openapi', { description: { inline: API }, responses: 'enforce' }]] as const
  const { send } = await serve(t, policies, '{"symbol":5}')
  const { status, response } = await send(undefined, '/orders/7')
  assert.deepEqual([status, response.headers.get('x-gw-error')], [502, 'GW_RESPONSE_INVALID'])
})

test('transform: the upstream and the client each get their own shape', async (t) => {
  const { seen, send } = await serve(t, [
    ['json-schema', { schema: { inline: ORDER } }],
    [
      'transform',
      {
        request: {
          jsonata: { inline: '{ "ticker": symbol, "tenant": $tenant }' },
          params: { tenant: '{{req.header.x-tenant}}' },
        },
        response: { template: { inline: '<t>{{$.ticker}}</t>' }, output: 'xml' },
        timeout: '5s',
      },
    ],
  ])
  const { response, status, text } = await send('{"symbol":"IBM"}', '/', { 'x-tenant': 'a&b' })
  assert.deepEqual([status, text], [200, '<t>IBM</t>'])
  assert.equal(response.headers.get('content-type'), 'application/xml; charset=utf-8')
  assert.equal(response.headers.get('etag'), null)
  assert.equal(seen[0]?.body, '{"ticker":"IBM","tenant":"a&b"}')
  const large = await send(`{"symbol":"IBM","pad":"${'x'.repeat(40_000)}"}`)
  assert.deepEqual([large.status, large.text], [200, '<t>IBM</t>'], 'on a thread')
})

test('transform: input that cannot be worked on is refused, an endless expression ends', async (t) => {
  const { send } = await serve(t, [
    [
      'transform',
      { request: { jsonata: { inline: '($f := function($n) { $f($n) }; loop ? $f(1) : $sum(a))' } } },
    ],
  ])
  const input = await send('{"a":["x"]}')
  assert.deepEqual([input.status, input.response.headers.get('x-gw-error')], [400, 'GW_TRANSFORM_INPUT'])
  const endless = await send('{"loop":true}')
  assert.deepEqual([endless.status, endless.response.headers.get('x-gw-error')], [500, 'GW_TRANSFORM_FAILED'])
})
