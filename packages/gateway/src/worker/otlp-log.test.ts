import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertIdentity } from '@sluice/core/testing'
import { serve } from '../document-keys/testing/key-tests.js'
import { until } from '../testing/gateway.js'
import { closedPort, httpOrigin } from '../testing/origin.js'
import { collector, noCollector, valuesOf } from '../testing/otel-collector.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-otlp-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

test('a collector receives records as log records with their trace, attributes and severity', {
  skip: noCollector,
}, async (t) => {
  const receiver = await collector(t)
  const origin = await httpOrigin(t, (_, res) => void res.end())
  const gateway = await serve(t, {
    upstream: { targets: [origin.url] },
    routes: [
      { id: 'good', match: { path: '/orders/{id}' }, upstream: 'up' },
      { id: 'missing', match: { path: '/missing' }, respond: { status: 404 } },
      { id: 'broken', match: { path: '/broken' }, respond: { status: 500 } },
    ],
    log: { sink: 'otlp', otlp: { endpoint: receiver.url, spool: { dir: scratch(t) } } },
    tracing: {},
  })
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'user-agent': 'tester' }
  for (const path of ['/orders/42', '/missing', '/broken'])
    await (await fetch(gateway.url + path, { headers })).arrayBuffer()
  await until(() => receiver.logRecords().length === 3)
  const [good, missing, broken] = receiver.logRecords()
  assert.deepEqual(
    [good, missing, broken].map((record) => [record!.severityNumber, record!.severityText]),
    [
      [9, 'INFO'],
      [13, 'WARN'],
      [17, 'ERROR'],
    ],
  )
  const body = JSON.parse(good!.body.stringValue!)
  assert.deepEqual([good!.traceId, good!.spanId, good!.flags], [TRACE, body.span.id, 1])
  assert.notEqual(good!.spanId, SPAN)
  assert.equal(BigInt(good!.timeUnixNano) / 1_000_000n, BigInt(Date.parse(body['@timestamp'])))
  assert.equal(body.parent.id, SPAN)
  const { 'sluice.request.id': id, ...attributes } = valuesOf(good!.attributes)
  assert.equal(id, body.id)
  assert.deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.route': '/orders/{id}',
    'url.path': '/orders/42',
    'url.scheme': 'http',
    'server.address': '127.0.0.1',
    'server.port': String(gateway.port),
    'client.address': '127.0.0.1',
    'network.protocol.version': '1.1',
    'user_agent.original': 'tester',
    'http.response.status_code': '200',
    'sluice.route': 'good',
    'sluice.upstream': 'up',
    'sluice.result': 'success',
  })
  assert.equal(valuesOf(receiver.resources()[0]!.attributes)['service.name'], 'sluice')
})

test('log records wait in the spool while the collector is down, and arrive when it is back', {
  skip: noCollector,
}, async (t) => {
  const receiver = await collector(t)
  const gateway = await serve(t, {
    target: `http://127.0.0.1:${await closedPort()}`,
    log: { sink: 'otlp', otlp: { endpoint: receiver.url, spool: { dir: scratch(t) } } },
  })
  const call = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await (await fetch(gateway.url)).arrayBuffer()
  }
  await call(10)
  await until(() => gateway.plane.logIdentity().indexed === 10)
  await receiver.stop()
  await call(200)
  await until(() => gateway.plane.logIdentity().onDisk === 200)
  await receiver.start()
  await until(() => gateway.plane.logIdentity().indexed === 210)
  assertIdentity(gateway.plane.logIdentity())
  const ids = () => receiver.logRecords().map(({ body }) => JSON.parse(body.stringValue!).id)
  await until(() => new Set(ids()).size === 210)
})
