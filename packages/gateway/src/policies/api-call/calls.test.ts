import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { until } from '../../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../../testing/origin.js'
import {
  callee,
  callResults,
  gatewayCalling,
  json,
  loggedGatewayCalling,
  recordsOf,
} from '../testing/calling-gateway.js'

test('a call is built from the request, and its answer goes to the configured place', async (t) => {
  const up = await callee(t, (res) => res.end())
  const crm = await callee(t, (res) => {
    res.setHeader('x-plan', 'gold')
    json({ tier: 'a "b"', limits: { day: 5 }, list: [1], none: null })(res)
  })
  const call = {
    name: 'crm',
    url: `${crm.url}/v1/{{req.header.x-id}}/x?q={{inputs.q}}&n={{inputs.n}}`,
    method: 'POST',
    headers: { 'x-who': '{{req.method}}', 'x-none': '{{vars.none}}' },
    body: { id: '{{inputs.q}}', fixed: 1 },
    save: [
      { from: '$.tier', to: 'header.x-tier' },
      { from: 'header.x-plan', to: 'header.x-plan' },
      { from: 'status', to: 'query.status' },
      { from: '$.limits', to: 'json.limits' },
      { from: 'body', to: 'json.crm' },
      { from: '$.none', to: 'header.x-none' },
      { from: '$.missing', to: 'header.x-default', default: 'nothing' },
    ],
  }
  const inputs = { q: 'req.query["q"]', n: 'req.body.json("$.n")' }
  const gateway = await gatewayCalling(t, { uses: [{ inputs, calls: [call] }], target: up.url })
  const response = await fetch(`${gateway.url}/a?q=%22%26%7D%20%C3%A4&status=forged`, {
    method: 'PUT',
    headers: {
      ...{ 'content-type': 'application/json', 'x-id': 'a/b c', 'x-tier': 'forged', 'x-none': 'forged' },
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
    body: '{"n":7,"limits":"forged"}',
  })
  assert.equal(response.status, 200)
  const seen = crm.calls[0]!
  assert.deepEqual([seen.method, seen.url], ['POST', '/v1/a%2Fb%20c/x?q=%22%26%7D%20%C3%A4&n=7'])
  assert.deepEqual(JSON.parse(seen.body), { id: '"&} ä', fixed: 1 })
  const { headers } = seen
  assert.deepEqual(
    [headers['x-who'], headers['x-none'], headers['content-type'], headers['x-sluice-hops'], headers['x-id']],
    ['PUT', undefined, 'application/json', '1', undefined],
  )
  assert.equal(headers['x-request-id'], response.headers.get('x-request-id'))
  assert.match(String(headers['traceparent']), /^00-4bf92f35/)
  const sent = up.calls[0]!
  assert.equal(sent.url, '/a?q=%22%26%7D%20%C3%A4&status=200')
  const crmBody = { tier: 'a "b"', limits: { day: 5 }, list: [1], none: null }
  assert.deepEqual(JSON.parse(sent.body), { n: 7, limits: { day: 5 }, crm: crmBody })
  const fields = ['x-tier', 'x-plan', 'x-none', 'x-default'].map((name) => sent.headers[name])
  assert.deepEqual(fields, ['a "b"', 'gold', undefined, 'nothing'])
})

test('calls of a group run concurrently, those of the next policy later, and all are logged', async (t) => {
  const waiting: ServerResponse[] = []
  const first = await callee(t, (res) => void waiting.push(res))
  const second = await callee(t, json({}))
  const call = (name: string, url: string) => ({ name, url })
  const uses = [
    { calls: [call('a', `${first.url}/a`), call('b', `${first.url}/b`)] },
    { calls: [call('c', second.url)] },
  ]
  const behind = ["{ use: header, with: { response: { set: { x-state: '{{vars.api-call.c}}' } } } }"]
  const gateway = await loggedGatewayCalling(t, { uses, behind })
  const response = fetch(gateway.url)
  await until(() => waiting.length === 2)
  assert.equal(second.calls.length, 0)
  for (const res of waiting) res.end()
  assert.equal((await response).headers.get('x-state'), 'ok')
  assert.equal(second.calls.length, 1)
  const [record] = await recordsOf(gateway, 1)
  const calls = record!['api_calls'] as {
    name: string
    status: number
    result: string
    from: string
    at: number
    ms: number
  }[]
  assert.deepEqual(
    calls.map(({ name, status, result, from }) => [name, status, result, from]).sort(),
    ['a', 'b', 'c'].map((name) => [name, 200, 'ok', 'call']),
  )
  assert.ok(calls.every(({ at, ms }) => at >= 0 && ms > 0))
})

test('failed calls are refused, ignored or answered as configured', async (t) => {
  const up = await callee(t, (res) => res.end())
  const other = await callee(t, () => {})
  const half = await rawOrigin(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'))
  })
  const garbage = await rawOrigin(t, (socket) => socket.end('no\r\n\r\n'))
  const cases: readonly (readonly [string, string, ((res: ServerResponse) => void) | null, string])[] = [
    ['nobody there', `http://127.0.0.1:${await closedPort()}/`, null, 'unreachable'],
    ['half an answer', half.url, null, 'broken|invalid'],
    ['garbage', garbage.url, null, 'invalid'],
    ['silence', other.url, () => {}, 'timeout'],
    ['error', other.url, (res) => res.writeHead(500).end('{"tier":"x"}'), 'unexpected'],
    ['redirect', other.url, (res) => res.writeHead(302, { location: up.url }).end(), 'unexpected'],
    ['large', other.url, (res) => res.end('x'.repeat(2000)), 'tooLarge'],
    ['no JSON', other.url, (res) => res.end('<tier>'), 'unexpected'],
    ['a value that no header holds', other.url, json({ tier: 'a\r\nx-admin: 1' }), 'unexpected'],
  ]
  const routes: Record<string, readonly object[]> = {}
  for (const [i, [what, url]] of cases.entries()) {
    const save = [
      { from: '$.tier', to: 'header.x-tier', required: true, ...(what === 'no JSON' && { default: 'd' }) },
    ]
    const timeout = what === 'silence' ? '100ms' : '20s'
    const call = { name: 'c', url, timeout, maxResponseBytes: '1kb', save }
    const respond = { status: 418, body: { why: '{{req.method}}' } }
    routes[`/${i}/fail`] = [{ calls: [call] }]
    routes[`/${i}/respond`] = [{ calls: [{ ...call, onError: 'respond', respond }] }]
    routes[`/${i}/continue`] = [{ calls: [{ ...call, onError: 'continue' }] }]
  }
  const gateway = await loggedGatewayCalling(t, { routes, target: up.url })
  const send = async (path: string): Promise<Response> => {
    const response = await fetch(gateway.url + path, { headers: { 'x-tier': 'forged' } })
    await response.arrayBuffer()
    return response
  }
  for (const [i, [what, , answer, result]] of cases.entries()) {
    if (answer !== null) other.answer = answer
    const refused = await send(`/${i}/fail`)
    const code = result === 'timeout' ? [504, 'GW_CALL_TIMEOUT'] : [502, 'GW_CALL_FAILED']
    assert.deepEqual([refused.status, refused.headers.get('x-gw-error')], code, what)
    assert.equal((await send(`/${i}/respond`)).status, 418, what)
    assert.deepEqual(up.calls, [], what)
    assert.equal((await send(`/${i}/continue`)).status, 200, what)
    const { headers } = up.calls.pop()!
    assert.deepEqual(
      [headers['x-tier'], headers['x-admin']],
      [what === 'no JSON' ? 'd' : undefined, undefined],
      what,
    )
  }
  const reasons = (await recordsOf(gateway, 3 * cases.length)).flatMap(({ error }) => error?.['reason'] ?? [])
  assert.equal(reasons.length, cases.length)
  for (const [i, [what, , , result]] of cases.entries())
    assert.match(reasons[i]!, new RegExp(`^c: (${result})$`), what)
})

test('an expectation reads what was saved', async (t) => {
  const stock = await callee(t, json({ left: 0 }))
  const call = { name: 'stock', url: stock.url, save: [{ from: '$.left', to: 'vars.left' }] }
  const expect = { status: ['2xx', '404'], when: 'vars["left"] != "0"' }
  const gateway = await gatewayCalling(t, { uses: [{ calls: [{ ...call, expect }] }] })
  const status = async () => (await fetch(gateway.url)).status
  assert.equal(await status(), 502)
  stock.answer = json({ left: 3 })
  assert.equal(await status(), 200)
  stock.answer = (res) => res.writeHead(404).end('{"left":1}')
  assert.equal(await status(), 200)
  stock.answer = (res) => res.writeHead(500).end('{"left":1}')
  assert.equal(await status(), 502)
})

test('calls can use and change the response', async (t) => {
  const up = await httpOrigin(t, (_, res) => {
    res.writeHead(201, { 'content-type': 'application/json', etag: '"a"' }).end('{"id":1}')
  })
  const other = await callee(t, json({ name: 'ann' }))
  const call = {
    ...{ name: 'c', url: `${other.url}/?s={{inputs.s}}`, method: 'PUT', forwardBody: true },
    save: [
      { from: '$.name', to: 'json.name' },
      { from: '$.name', to: 'header.x-name' },
    ],
  }
  const use = { phase: 'response', inputs: { s: 'res.status' }, calls: [call] }
  const gateway = await gatewayCalling(t, { uses: [use], target: up.url })
  const response = await fetch(gateway.url)
  assert.deepEqual(await response.json(), { id: 1, name: 'ann' })
  assert.deepEqual(
    [response.status, response.headers.get('x-name'), response.headers.get('etag')],
    [201, 'ann', null],
  )
  const { url, body, headers } = other.calls[0]!
  assert.deepEqual([url, body, headers['content-type']], ['/?s=201', '{"id":1}', 'application/json'])
})

test('one-way calls do not delay requests, and those beyond the limit are dropped', async (t) => {
  const waiting: ServerResponse[] = []
  const audit = await callee(t, (res) => void waiting.push(res))
  const call = {
    name: 'audit',
    url: audit.url,
    method: 'POST',
    body: 'x'.repeat(450_000),
    oneWay: true,
    timeout: '20s',
  }
  const gateway = await gatewayCalling(t, { uses: [{ calls: [call] }] })
  const results = () => callResults(gateway)
  for (let i = 0; i < 20; i++) assert.equal(await (await fetch(gateway.url)).text(), 'done')
  // 8 MB hold 18 of these, 8 of them in flight.
  assert.deepEqual(results(), { queued: 18, dropped: 2 })
  await until(() => waiting.length === 8)
  for (let sent = 0; sent < 18; sent++) {
    await until(() => waiting.length > 0)
    waiting.shift()!.end()
  }
  await until(() => results()['ok'] === 18)
  assert.equal(audit.calls.length, 18)
})

test('a silent server does not delay one-way calls to others', async (t) => {
  const silent = await callee(t, () => {})
  const audit = await callee(t, json({}))
  const calls = [silent, audit].map(({ url }, i) => ({ name: `c${i}`, url, oneWay: true, timeout: '20s' }))
  const gateway = await gatewayCalling(t, { uses: [{ calls }] })
  for (let i = 0; i < 20; i++) assert.equal(await (await fetch(gateway.url)).text(), 'done')
  await until(() => audit.calls.length === 20)
  assert.ok(silent.calls.length <= 8)
})
