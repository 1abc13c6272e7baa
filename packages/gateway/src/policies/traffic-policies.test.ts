import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PolicyUse } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'

type Use = readonly [use: string, config: object, when?: string]

const DENIED: Use = ['ip-filter', { deny: ['127.0.0.1'] }]

/** Starts a logging gateway with these policies in front of an upstream that echoes requests. */
async function serve(t: TestContext, ...uses: readonly Use[]) {
  const seen: NodeJS.Dict<string | string[]>[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res
      .writeHead(200, { 'x-correlation-id': 'upstream', 'x-powered-by': 'PHP', server: 'old' })
      .end('upstream')
  })
  const policies: PolicyUse[] = uses.map(([use, config, when]) => ({
    ...{ id: use, use, with: config, when: when ?? null, onError: 'fail' as const },
  }))
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] }
  const gateway = await startLogged(t, overrides, {}, { catalog })
  const send = async (headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${gateway.url}/a`, { method, headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { gateway, seen, send }
}

test('request-id: upstream and client have the same id, and a refusal has one too', async (t) => {
  const { seen, send } = await serve(t, ['request-id', { format: 'ulid', trustIncoming: true }])
  const made = (await send()).headers.get('x-correlation-id')!
  assert.match(made, /^[0-7][0-9A-Z]{25}$/)
  assert.equal(seen[0]!['x-correlation-id'], made)
  assert.equal((await send({ 'x-correlation-id': 'mine' })).headers.get('x-correlation-id'), 'mine')
  assert.equal(seen[1]!['x-correlation-id'], 'mine')
  const refusing = await serve(t, ['request-id', {}], DENIED)
  const { headers } = await refusing.send()
  assert.equal(headers.get('x-gw-error'), 'GW_IP_DENIED')
  assert.equal(headers.get('x-correlation-id'), headers.get('x-request-id'))
})

test('mock: answers in place of the upstream and counts as a success, after the policies before it', async (t) => {
  const config = { status: 503, body: { path: '{{req.path}}' }, delay: '1ms' }
  const { gateway, seen, send } = await serve(t, ['request-id', {}], ['mock', config])
  const { status, headers, text } = await send()
  assert.deepEqual([status, text], [503, '{"path":"/a"}'])
  assert.equal(headers.get('content-type'), 'application/json')
  assert.equal(headers.get('x-correlation-id'), headers.get('x-request-id'))
  assert.equal((await send({}, 'HEAD')).headers.get('content-length'), '13')
  assert.equal((await send({}, 'POST')).text, '{"path":"/a"}')
  assert.equal(seen.length, 0)
  const [record] = await gateway.records()
  assert.equal(record!.result, 'success')
  const denied = await serve(t, DENIED, ['mock', config])
  assert.equal((await denied.send()).status, 403)
  const conditional = await serve(t, ['mock', config, 'req.header["x-mock"] == "1"'])
  assert.equal((await conditional.send()).text, 'upstream')
  assert.equal((await conditional.send({ 'x-mock': '1' })).status, 503)
})

test('maintenance: a page for browsers, a problem for programs, a fault for SOAP', async (t) => {
  const { gateway, seen, send } = await serve(t, ['maintenance', { message: 'Back <soon>.' }])
  const page = await send({ accept: 'text/html' })
  assert.equal(page.status, 503)
  assert.match(page.text, /Back &lt;soon&gt;\./)
  const { headers, text } = await send({ accept: 'application/json' })
  assert.equal(headers.get('retry-after'), '300')
  assert.equal(headers.get('x-gw-error'), 'GW_MAINTENANCE')
  assert.equal(JSON.parse(text).detail, 'Back <soon>.')
  const soap = await send({ 'content-type': 'application/soap+xml' }, 'POST')
  assert.match(soap.text, /<env:Fault>.*Back &lt;soon&gt;/)
  assert.equal(seen.length, 0)
  const [record] = await gateway.records()
  assert.equal(record!.result, 'blocked')
  const open = await serve(t, ['maintenance', { allow: ['127.0.0.1'] }])
  assert.equal((await open.send()).text, 'upstream')
})

test('security-headers: on responses and refusals, without HSTS over http', async (t) => {
  for (const uses of [[], [DENIED]]) {
    const { send } = await serve(t, ['security-headers', {}], ...uses)
    const { headers } = await send()
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('strict-transport-security'), null)
    assert.equal(headers.get('x-powered-by'), null)
    assert.notEqual(headers.get('server'), 'old')
  }
})

test('fault: the guarded request fails or waits, says why, and the key stays here', async (t) => {
  const guard = { header: 'x-fault-key', value: '0123456789abcdef' }
  const key = { 'x-fault-key': guard.value }
  const { gateway, seen, send } = await serve(t, ['fault', { guard, abort: { status: 504 } }])
  assert.equal((await send({ 'x-fault-key': 'guess' })).text, 'upstream')
  assert.equal(seen[0]!['x-fault-key'], undefined)
  const { status, headers, text } = await send(key)
  assert.equal(status, 504)
  assert.equal(headers.get('x-gw-error'), 'GW_FAULT_INJECTED')
  assert.equal(headers.get('x-gw-fault'), 'abort')
  assert.equal(JSON.parse(text).code, 'GW_FAULT_INJECTED')
  const records = await gateway.records()
  assert.equal(records[1]!.error!['code'], 'GW_FAULT_INJECTED')
  const slow = await serve(t, ['fault', { guard, delay: { duration: '20ms' } }])
  const delayed = await slow.send(key)
  assert.deepEqual([delayed.text, delayed.headers.get('x-gw-fault')], ['upstream', 'delay'])
})

test('fault: without a guard or a condition the document is refused', async (t) => {
  const config = { abort: { status: 504 } }
  await assert.rejects(serve(t, ['fault', config]), /policy 'fault' \(fault\): would apply to every request/)
  await assert.rejects(serve(t, ['fault', config, 'true']), /would apply to every request/)
  const { send } = await serve(t, ['fault', config, 'req.header["x-try"] == "1"'])
  assert.equal((await send()).status, 200)
  assert.equal((await send({ 'x-try': '1' })).status, 504)
})
