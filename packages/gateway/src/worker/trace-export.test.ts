import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertIdentity } from '@sluice/core/testing'
import { serve } from '../document-keys/testing/key-tests.js'
import { until } from '../testing/gateway.js'
import { closedPort, httpOrigin } from '../testing/origin.js'

const command = process.env['SLUICE_OTEL_COLLECTOR'] ?? ''
const skip =
  command === '' && 'no collector; use npm test, or npm run services and the variable that it prints'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status?: { readonly code?: number }
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

/** A server that receives what a collector passes on. */
async function backend(t: TestContext): Promise<{ readonly port: number; readonly received: Exported[] }> {
  const received: Exported[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    received.push(JSON.parse(body) as Exported)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, received }
}

/** Starts a collector and returns a function that stops it. */
async function collector(t: TestContext, port: number, backendPort: number): Promise<() => Promise<void>> {
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      otlphttp: { endpoint: `http://127.0.0.1:${backendPort}`, encoding: 'json', compression: 'none' },
    },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlphttp'] } },
    },
  }
  const program = spawn(command, ['--config', `yaml:${JSON.stringify(config)}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  t.after(() => program.kill())
  await until(() => {
    assert.equal(program.exitCode, null, said)
    return said.includes('Everything is ready')
  })
  return async () => {
    program.kill()
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
  }
}

function spansOf(received: readonly Exported[]): Span[] {
  return received.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
}

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-traces-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

test('a collector receives a span of the request and one of each attempt', { skip }, async (t) => {
  const { port: backendPort, received } = await backend(t)
  const port = await closedPort()
  await collector(t, port, backendPort)
  const seen: IncomingHttpHeaders[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res.writeHead(seen.length === 1 ? 503 : 200).end()
  })
  const gateway = await serve(t, {
    target: origin.url,
    upstream: { targets: [origin.url], retry: { on: [503], backoff: '1ms' } },
    route: { match: { path: '/orders/{id}' } },
    tracing: { exporter: { endpoint: `http://127.0.0.1:${port}`, spool: { dir: scratch(t) } } },
  })
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'user-agent': 'tester' }
  assert.equal((await fetch(`${gateway.url}/orders/42?token=s3cr3t`, { headers })).status, 200)
  await until(() => spansOf(received).length === 3)
  const [server, first, second] = spansOf(received) as [Span, Span, Span]
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
  const resource = valuesOf(received[0]!.resourceSpans[0]!.resource.attributes)
  assert.deepEqual([resource['service.name'], resource['service.version']], ['sluice', 'test'])
})

test('spans wait in the spool while the collector is down', { skip }, async (t) => {
  const { port: backendPort, received } = await backend(t)
  const port = await closedPort()
  const stop = await collector(t, port, backendPort)
  const origin = await httpOrigin(t, (_, res) => void res.end())
  const gateway = await serve(t, {
    target: origin.url,
    tracing: { exporter: { endpoint: `http://127.0.0.1:${port}`, spool: { dir: scratch(t) } } },
  })
  const call = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await (await fetch(gateway.url)).arrayBuffer()
  }
  await call(10)
  await until(() => gateway.plane.logIdentity().indexed === 10)
  await stop()
  await call(200)
  await until(() => gateway.plane.logIdentity().onDisk === 200)
  await collector(t, port, backendPort)
  await until(() => gateway.plane.logIdentity().indexed === 210)
  assertIdentity(gateway.plane.logIdentity())
  await until(() => new Set(spansOf(received).map(({ spanId }) => spanId)).size === 420)
})
