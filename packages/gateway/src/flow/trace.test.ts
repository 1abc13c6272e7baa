import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import type { TracingPlan, UpstreamPlan } from '@sluice/config'
import { startGateway, until } from '../testing/gateway.js'
import { h2Origin } from '../testing/h2-origin.js'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'
import { OVER } from '../testing/transports.js'
import { openWebSocket, webSocketOrigin, webSocketRoute } from '../testing/websocket.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/

type Fields = http.IncomingHttpHeaders

/** Returns trace ID, span ID and flags of a traceparent. */
function partsOf(headers: Fields): readonly string[] {
  const parts = TRACEPARENT.exec(String(headers['traceparent']))
  assert.ok(parts !== null, JSON.stringify(headers))
  return parts.slice(1)
}

/** Starts a gateway before an origin, and returns a function that sends a request and returns the fields received. */
async function sending(
  t: TestContext,
  tracing: Partial<TracingPlan> | undefined,
  upstream: Partial<UpstreamPlan> = {},
): Promise<(headers?: Record<string, string>) => Promise<Fields>> {
  let seen: Fields = {}
  const origin = await httpOrigin(t, (req, res) => {
    seen = req.headers
    res.end()
  })
  const upstreams = [{ urls: [origin.url], ...upstream }]
  const gateway = await startGateway(t, { upstreams, ...(tracing === undefined ? {} : { tracing }) })
  return async (headers = {}) => {
    assert.equal((await fetch(gateway.url, { headers })).status, 200)
    return seen
  }
}

for (const transport of ['wire', 'undici'] as const) {
  test(`${transport}: a request without a trace gets one, and the next request another one`, async (t) => {
    const send = await sending(t, {}, OVER[transport])
    const [first, second] = [partsOf(await send()), partsOf(await send())]
    assert.equal(first[2], '01')
    assert.notEqual(first[0], second[0])
    assert.notEqual(first[1], second[1])
  })
}

test('the trace of the caller continues, with its state and its decision', async (t) => {
  const send = await sending(t, { ratio: 0 })
  for (const flags of ['00', '01']) {
    const seen = await send({ traceparent: `00-${TRACE}-${SPAN}-${flags}`, tracestate: 'a=1,b=2' })
    const [trace, span, sent] = partsOf(seen)
    assert.deepEqual([trace, sent, seen['tracestate']], [TRACE, flags, 'a=1,b=2'])
    assert.notEqual(span, SPAN)
  }
})

test('an invalid trace is replaced, together with its state', async (t) => {
  const send = await sending(t, {})
  for (const traceparent of [
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    'x',
  ]) {
    const seen = await send({ traceparent, tracestate: 'a=1' })
    assert.notEqual(partsOf(seen)[0], TRACE)
    assert.equal(seen['tracestate'], undefined)
  }
})

test('without tracing, trace fields are passed on unchanged', async (t) => {
  const send = await sending(t, undefined)
  const fields = { traceparent: 'x', tracestate: 'y', b3: 'z' }
  const { traceparent, tracestate, b3 } = await send(fields)
  assert.deepEqual({ traceparent, tracestate, b3 }, fields)
  assert.equal((await send())['traceparent'], undefined)
})

test('all configured formats are sent, the first valid one is read, and others are passed on', async (t) => {
  const send = await sending(t, { propagation: ['b3', 'b3multi', 'tracecontext'] })
  const seen = await send({ b3: `${TRACE}-${SPAN}-0`, traceparent: `00-${'1'.repeat(32)}-${SPAN}-01` })
  const [trace, span, flags] = partsOf(seen)
  assert.deepEqual([trace, flags], [TRACE, '00'])
  const [, own] = /^[0-9a-f-]+-0-([0-9a-f]{16})$/.exec(String(seen['b3'])) ?? []
  assert.equal(seen['b3'], `${TRACE}-${span}-0-${own}`)
  assert.deepEqual(
    ['traceid', 'spanid', 'parentspanid', 'sampled'].map((name) => seen[`x-b3-${name}`]),
    [TRACE, span, own, '0'],
  )
  const onlyW3c = await sending(t, {})
  assert.equal((await onlyW3c({ b3: 'z' }))['b3'], 'z')
})

test('an HTTP/2 upstream receives the trace', async (t) => {
  let seen: Fields = {}
  const origin = await h2Origin(t, (stream, headers) => {
    seen = headers
    stream.respond({ ':status': 200 })
    stream.end()
  })
  const http2 = { alpn: false, priorKnowledge: true }
  const upstreams = [{ urls: [`http://127.0.0.1:${origin.port}`], http2 }]
  const gateway = await startGateway(t, { upstreams, tracing: {} })
  await fetch(gateway.url, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } })
  assert.equal(partsOf(seen)[0], TRACE)
})

test('a WebSocket target receives the trace with the handshake', async (t) => {
  const origin = await webSocketOrigin(t)
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()], tracing: {} }
  const gateway = await startGateway(t, overrides)
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` }
  await openWebSocket(t, gateway.url.replace('http', 'ws'), { headers })
  await until(() => origin.requests.length === 1)
  assert.equal(partsOf(origin.requests[0]!.headers)[0], TRACE)
})

test('each attempt has its own span, and the record and the error have the trace', async (t) => {
  const seen: Fields[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res.writeHead(503).end()
  })
  const retry = { attempts: 2, on: [503], backoffMs: 1, budget: 1 }
  const path = { text: '/known', kind: 'exact', segments: [{ kind: 'literal', text: 'known' }] } as const
  const match = { hosts: [], path, methods: [], headers: [], query: [], when: null }
  const gateway = await startLogged(t, {
    upstreams: [{ urls: [origin.url], retry }],
    routes: [{ id: 'known', match }],
    tracing: {},
  })
  await fetch(`${gateway.url}/known`, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } })
  const spans = seen.map((headers) => partsOf(headers)[1]!)
  assert.deepEqual([spans.length, new Set(spans).size], [3, 3])
  const failed = (await (await fetch(`${gateway.url}/unknown`)).json()) as { traceId: string }
  const [first, second] = await gateway.records()
  const { trace, span, parent } = first as unknown as Record<string, { id: string }>
  assert.deepEqual([trace, parent], [{ id: TRACE, sampled: true }, { id: SPAN }])
  assert.deepEqual(
    spans,
    ['01', '02', '03'].map((attempt) => span!.id.slice(0, 14) + attempt),
  )
  assert.equal((second as unknown as Record<string, { id: string }>)['trace']!.id, failed.traceId)
})
