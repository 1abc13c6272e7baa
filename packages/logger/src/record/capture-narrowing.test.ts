import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Capture, type Exchange } from '@sluice/core'
import { captureRules, encodeRecord, sampleExchange } from '../testing.js'
import { type CaptureNarrowing, narrowed } from './capture-narrowing.js'
import { recordEnv } from './record-env.js'

const ON = { headers: true, body: true }
const ALL = { requestIn: ON, requestUp: ON, responseUp: ON, responseOut: ON }
/** Restrictions that allow everything. */
const EVERYTHING: CaptureNarrowing = {
  ...ALL,
  ...{ maxBodyBytes: 65_536, sha256: true, multipart: 'values', headersAllow: null, headersDeny: [] },
}

/** Creates an exchange with the captured request `hello` and response `world`. */
function captured(changes: Parameters<typeof captureRules>[0] = {}): Exchange {
  const headers = ['content-type', 'text/plain', 'accept', '*/*', 'x-internal', '1']
  const x = sampleExchange({ headers, contentLength: 5, responseHeaders: ['content-type', 'text/plain'] })
  x.record.capture = new Capture(captureRules({ ...ALL, sha256: true, ...changes }), x)
  x.record.capture.onRequestChunk(Buffer.from('hello'))
  x.record.capture.onDispatch(x, 'inside')
  x.record.capture.onResponseHead(['content-type', 'text/plain', 'x-internal', '2'])
  x.record.capture.onResponseChunk(Buffer.from('world'))
  return x
}

function recorded(x: Exchange, capture: Partial<CaptureNarrowing> | null) {
  const narrowing = capture === null ? null : { ...EVERYTHING, ...capture }
  const common = { fields: 'minimal', worker: 0, node: 'n', version: '1', configDigest: () => '' } as const
  return JSON.parse(encodeRecord(x, recordEnv({ ...common, capture: narrowing })))
}

test('an output records what was captured unless it says otherwise', () => {
  const x = captured()
  const whole = recorded(x, null)
  assert.deepEqual(Object.keys(whole.hdr), ['req_in', 'req_up', 'res_up', 'res_out'])
  assert.deepEqual(recorded(x, {}), whole)
})

test('regions, bodies and fields are recorded only as far as both allow', () => {
  const x = captured({ responseUp: { headers: true, body: false }, headersDeny: ['accept'] })
  const record = recorded(x, {
    requestUp: { headers: false, body: false },
    responseOut: { headers: false, body: true },
    maxBodyBytes: 4,
    sha256: false,
    headersDeny: ['x-internal'],
  })
  assert.deepEqual(record.hdr, {
    req_in: { host: 'api.example.com:8080', 'content-type': 'text/plain' },
    res_up: { 'content-type': 'text/plain' },
  })
  assert.deepEqual(record.body, {
    req_in: { bytes: 5, ct: 'text/plain', text: 'hell', truncated: true },
    res_out: { bytes: 5, ct: 'text/plain', text: 'worl', truncated: true },
  })
  // Data omitted by one target is still available to the others.
  assert.equal(recorded(x, null).body.req_in.text, 'hello')
})

test('a field has to be allowed by both', () => {
  const x = captured({ headersAllow: ['accept', 'x-internal'] })
  assert.deepEqual(recorded(x, null).hdr.req_in, { accept: '*/*', 'x-internal': '1' })
  assert.deepEqual(recorded(x, { headersAllow: ['x-internal', 'host'] }).hdr.req_in, { 'x-internal': '1' })
  assert.deepEqual(recorded(captured(), { headersAllow: ['host'] }).hdr.req_in, {
    host: 'api.example.com:8080',
  })
  assert.deepEqual(recorded(captured(), { headersAllow: [] }).hdr.req_in, {})
})

test('a target chooses by itself which bodies it records', () => {
  const failed = { results: ['error'], slowMs: null, status: null, share: null } as const
  const x = captured({ keepBodyOn: failed })
  assert.equal(recorded(x, null).body, undefined)
  assert.equal(recorded(x, { keepBodyOn: null }).body.req_in.text, 'hello')
  assert.equal(recorded(captured(), { keepBodyOn: failed }).body, undefined)
})

test('the fields that a target leaves out are left out where nothing was captured, too', () => {
  const headers = ['accept', '*/*', 'x-internal', '1']
  const x = sampleExchange({ headers, responseHeaders: ['x-internal', '2', 'vary', 'accept'] })
  const record = (capture: Partial<CaptureNarrowing>) => {
    const narrowing = { ...EVERYTHING, ...capture }
    const common = { fields: 'full', worker: 0, node: 'n', version: '1', configDigest: () => '' } as const
    return JSON.parse(encodeRecord(x, recordEnv({ ...common, capture: narrowing }))).hdr
  }
  assert.deepEqual(record({ headersDeny: ['x-internal'] }), {
    req_up: { accept: '*/*' },
    res_out: { vary: 'accept' },
  })
  assert.deepEqual(record({ headersAllow: ['vary'] }), { req_up: {}, res_out: { vary: 'accept' } })
})

test('multipart values are recorded only if both allow it', () => {
  const recordedBy = (target: 'names' | 'values', route: 'names' | 'values') =>
    narrowed({ ...EVERYTHING, multipart: target })(captureRules({ multipart: route })).multipart
  assert.equal(recordedBy('values', 'values'), 'values')
  assert.equal(recordedBy('names', 'values'), 'names')
  assert.equal(recordedBy('values', 'names'), 'names')
})
