import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AttemptTrace,
  Capture,
  EventStream,
  type Exchange,
  noteLimit,
  PHASE,
  WebSocketCounts,
} from '@sluice/core'
import { setFields } from '@sluice/core/testing'
import { recordEnv } from '../record/record-env.js'
import { captureRules, encodeRecord, sampleExchange } from '../testing.js'
import { TRAFFIC_MAPPING } from './mapping.js'

const ON = { headers: true, body: true }

/** Creates an exchange with all fields that can be recorded. */
function fullExchange(): Exchange {
  const x = sampleExchange({ rawPath: '/%6frders', contentLength: 1, result: 'error', status: 502 })
  x.headers.push('traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, 'content-encoding', 'gzip')
  x.setVar('tenant', 'acme')
  Object.assign(x.attempts, { retries: 1, failovers: 1, isReused: true })
  Object.assign(x, { forwardedFor: '10.0.0.1', clientPort: 1 })
  Object.assign(x, { errorCode: 'GW_UPSTREAM_RESET', errorPolicy: 'p', errorMessage: 'gone' })
  x.times.ms = x.times.ms.map(() => 1)
  setFields(x, { errorPhase: PHASE.upstreamBody })
  setFields(x, { route: { api: { name: 'orders', group: 'sales', revision: '7' } } })
  const keepBodyOn = { results: [], slowMs: null, status: null, share: 1 }
  const regions = { requestIn: ON, requestUp: ON, responseUp: ON, responseOut: ON }
  x.record.capture = new Capture(
    captureRules({ ...regions, maxBodyBytes: 2, sha256: true, binary: 'base64', keepBodyOn }),
    x,
  )
  noteLimit(x, 'orders', 0)
  x.record.stream = new EventStream(0, true)
  x.record.trace = new AttemptTrace(true, true)
  x.record.policyTrace = x.record.trace
  x.record.trace.begin('one', 10).end(10, 11, 'stop', 'GW_IP_DENIED')
  const tried = { addr: 'http://a', atMs: 2, ms: 1, reason: 'gone', retry: 'repeated' } as const
  x.record.trace.tries.push({ ...tried, code: 'GW_UPSTREAM_RESET', status: 0 })
  x.record.trace.tries.push({ ...tried, code: null, status: 503 })
  x.record.trace.pool = { busy: 1, free: 0, pending: 0 }
  x.record.trace.loopLagMs = 1
  const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: '' }
  const trace = { ...ids, isSampled: true, isKept: true, traceparent: '' }
  setFields(x, { trace, authority: 'example.com:8080', host: 'example.com' })
  const body = Buffer.from([0xff, 0xfe, 0xfd])
  x.body = body
  x.record.capture.onRequestChunk(body)
  x.record.capture.onDispatch(x, 'inside')
  x.record.capture.onResponseHead(['content-type', 'text/plain'])
  x.record.capture.onResponseChunk(Buffer.from('abc'))
  x.record.capture.onReply(x, body)
  return x
}

/** Returns the dotted paths of leaves without a mapping. Uses the first item of lists, and stops at flattened fields. */
function unmapped(value: object, properties: Readonly<Record<string, unknown>>, at = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const mapped = properties[name] as { type?: string; properties?: Record<string, unknown> } | undefined
    const path = at + name
    if (mapped === undefined) return [path]
    const item = Array.isArray(member) ? member[0] : member
    return mapped.properties === undefined ? [] : unmapped(item, mapped.properties, `${path}.`)
  })
}

test('the mapping has every field that a record can have', () => {
  const options = { fields: 'full', worker: 0, node: 'n', version: '1', configDigest: () => 'd' } as const
  const environment = 'production'
  const record = JSON.parse(encodeRecord(fullExchange(), recordEnv({ ...options, environment })))
  assert.deepEqual(Object.keys(record.body), ['req_in', 'req_up', 'res_up', 'res_out'])
  assert.deepEqual(Object.keys(record.hdr), ['req_in', 'req_up', 'res_up', 'res_out'])
  assert.deepEqual(unmapped(record, TRAFFIC_MAPPING.properties!), [])
  const x = fullExchange()
  x.record.stream = new WebSocketCounts(0)
  const webSocket = JSON.parse(encodeRecord(x, recordEnv({ ...options, environment })))
  assert.equal(webSocket.websocket.close, 1006)
  assert.deepEqual(unmapped(webSocket, TRAFFIC_MAPPING.properties!), [])
  assert.equal(Object.keys(record.t).length, Object.keys(PHASE).length + 1)
})
