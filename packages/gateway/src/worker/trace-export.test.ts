import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { type Outcome, refusal } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'
import { serve } from '../document-keys/testing/key-tests.js'
import { grpcClient, grpcServer } from '../listen/node/http2/testing/grpc-service.js'
import { fakeCatalog } from '../testing/fake-policy.js'
import { until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { collector, noCollector, type Span, valuesOf } from '../testing/otel-collector.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-traces-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

test('a collector receives a span of the request and one of each attempt', {
  skip: noCollector,
}, async (t) => {
  const receiver = await collector(t)
  const seen: IncomingHttpHeaders[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res.writeHead(seen.length === 1 ? 503 : 200).end()
  })
  const gateway = await serve(t, {
    target: origin.url,
    upstream: { targets: [origin.url], retry: { on: [503], backoff: '1ms' } },
    route: { match: { path: '/orders/{id}' } },
    tracing: { exporter: { endpoint: receiver.url, spool: { dir: scratch(t) } } },
  })
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'user-agent': 'tester' }
  assert.equal((await fetch(`${gateway.url}/orders/42?token=s3cr3t`, { headers })).status, 200)
  await until(() => receiver.spans().length === 3)
  const [server, first, second] = receiver.spans() as readonly Span[] as [Span, Span, Span]
  for (const span of [server, first, second]) {
    assert.equal(span.traceId, TRACE)
    assert.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), JSON.stringify(span))
    assert.ok(BigInt(span.startTimeUnixNano) >= BigInt(server.startTimeUnixNano))
    assert.ok(BigInt(span.endTimeUnixNano) <= BigInt(server.endTimeUnixNano) + 1000n)
  }
  assert.deepEqual([server.kind, server.name, server.parentSpanId], [2, 'GET /orders/{id}', SPAN])
  assert.deepEqual([first.kind, first.name, first.parentSpanId], [3, 'GET', server.spanId])
  assert.deepEqual(
    [second.parentSpanId, first.status?.code, second.status?.code],
    [server.spanId, 2, undefined],
  )
  assert.deepEqual(
    seen.map(({ traceparent }) => traceparent),
    [first, second].map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
  )
  const { 'sluice.request.id': id, ...attributes } = valuesOf(server.attributes)
  assert.ok(id !== undefined)
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
    'sluice.route': 'all',
    'sluice.upstream': 'up',
    'sluice.result': 'success',
  })
  assert.deepEqual(valuesOf(second.attributes), {
    'http.request.method': 'GET',
    'server.address': '127.0.0.1',
    'server.port': String(origin.port),
    'url.full': `${origin.url}/orders/42`,
    'http.response.status_code': '200',
    'http.request.resend_count': '1',
    'sluice.upstream': 'up',
  })
  assert.equal(valuesOf(first.attributes)['error.type'], '503')
  const resource = valuesOf(receiver.resources()[0]!.attributes)
  assert.deepEqual([resource['service.name'], resource['service.version']], ['sluice', 'test'])
})

test('spans wait in the spool while the collector is down', { skip: noCollector }, async (t) => {
  const receiver = await collector(t)
  const origin = await httpOrigin(t, (_, res) => void res.end())
  const gateway = await serve(t, {
    target: origin.url,
    tracing: { exporter: { endpoint: receiver.url, spool: { dir: scratch(t) } } },
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
  await until(() => new Set(receiver.spans().map(({ spanId }) => spanId)).size === 420)
})

/** Waits on `/slow` and `/refused`, which it then refuses. */
async function decide(path: string): Promise<Outcome> {
  await sleep(5)
  return path === '/refused' ? refusal('GW_POLICY_REFUSED', 'not you') : null
}

test('policies that take long have spans, also those of a kept trace that waited', {
  skip: noCollector,
}, async (t) => {
  const receiver = await collector(t)
  const catalog = fakeCatalog({ onRequest: (x) => decide(x.path) })
  const answer = { respond: { status: 200 }, policies: [{ use: 'p' }] }
  const gateway = await serve(t, {
    catalog,
    routes: ['slow', 'refused'].map((id) => ({ id, match: { path: `/${id}` }, ...answer })),
    tracing: {
      sampling: { ratio: '0%' },
      keep: { blocked: true },
      exporter: { endpoint: receiver.url, spool: { dir: scratch(t) } },
    },
  })
  const call = async (path: string, flags: string): Promise<void> => {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-${flags}` }
    await (await fetch(gateway.url + path, { headers })).arrayBuffer()
  }
  await call('/slow', '01')
  // Metrics time the policies of the first request of a route, but not those of the second one.
  await call('/refused', '00')
  await call('/refused', '00')
  await until(() => receiver.spans().length === 6)
  const parents = new Map(receiver.spans().map((span) => [span.spanId, span]))
  assert.equal(parents.size, 6)
  const policies = receiver.spans().filter(({ kind }) => kind === 1)
  const told = policies.map(({ name, attributes, status, parentSpanId }) => {
    const values = valuesOf(attributes)
    const parent = parents.get(parentSpanId)!.name
    return [parent, name, values['sluice.policy.phase'], values['sluice.policy.result'], status?.code ?? 0]
  })
  const refused = ['GET /refused', 'policy refused/1', 'request', 'stop', 2]
  assert.deepEqual(told, [['GET /slow', 'policy slow/1', 'request', 'pass', 0], refused, refused])
  assert.deepEqual(
    policies.map(({ attributes }) => valuesOf(attributes)['error.type']),
    [undefined, 'GW_POLICY_REFUSED', 'GW_POLICY_REFUSED'],
  )
  for (const { startTimeUnixNano, endTimeUnixNano, parentSpanId } of policies) {
    const parent = parents.get(parentSpanId)!
    assert.ok(BigInt(startTimeUnixNano) >= BigInt(parent.startTimeUnixNano))
    assert.ok(BigInt(endTimeUnixNano) <= BigInt(parent.endTimeUnixNano) + 1000n)
    assert.ok(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano) >= 4_000_000n)
  }
})

test('a gRPC call continues its trace, through the collector', { skip: noCollector }, async (t) => {
  const receiver = await collector(t)
  const server = await grpcServer(t)
  const gateway = await serve(t, {
    target: `http://127.0.0.1:${server.port}`,
    listener: { engine: 'node', http2: { priorKnowledge: true } },
    upstream: { http2: { priorKnowledge: true } },
    tracing: { exporter: { endpoint: receiver.url, spool: { dir: scratch(t) } } },
  })
  const metadata = new Metadata()
  metadata.set('traceparent', `00-${TRACE}-${SPAN}-01`)
  const client = grpcClient(t, gateway.port)
  const seen: unknown[] = []
  await new Promise<void>((resolve, reject) => {
    const call = client['unary']!(Buffer.from('hello'), metadata, (error: ServiceError | null) =>
      error === null ? resolve() : reject(error),
    )
    call.on('status', (end: { metadata: Metadata }) => seen.push(end.metadata.get('x-trace')[0]))
  })
  await until(() => receiver.spans().length === 2)
  const [call, attempt] = receiver.spans() as readonly Span[] as [Span, Span]
  assert.deepEqual([call.traceId, call.parentSpanId, attempt.parentSpanId], [TRACE, SPAN, call.spanId])
  assert.equal(valuesOf(call.attributes)['network.protocol.version'], '2')
  await until(() => seen.length === 1)
  assert.deepEqual(seen, [`00-${TRACE}-${attempt.spanId}-01`])
})
