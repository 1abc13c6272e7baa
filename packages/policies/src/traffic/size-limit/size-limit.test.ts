import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { sizeLimit } from './policy.js'
import type { MessageSizes, RequestSizes, SizeLimitConfig } from './schema.js'

function compile(config: SizeLimitConfig): Step {
  return sizeLimit.compile(config, testEnv()) as Step
}

function requestCode(request: RequestSizes, fields: Partial<Exchange>): string {
  const outcome = compile({ request }).onRequest!(exchange(fields)) as Outcome
  return outcome?.problem?.code ?? ''
}

function responseCode(response: MessageSizes, fields: Partial<Exchange>): string {
  const outcome = compile({ response }).onResponse!(exchange({ status: 200, ...fields })) as Outcome
  return outcome?.problem?.code ?? ''
}

test('path and query are counted together, as received', () => {
  const fields = { rawPath: '/%61bc', path: '/abc', query: 'a=1' }
  assert.equal(requestCode({ maxUrlBytes: '10b' }, fields), '')
  assert.equal(requestCode({ maxUrlBytes: '9b' }, fields), 'GW_URL_TOO_LONG')
  assert.equal(requestCode({ maxUrlBytes: '6b' }, { ...fields, query: '' }), '')
})

test('query parameters are counted, including empty ones', () => {
  assert.equal(requestCode({ maxQueryParameters: 0 }, { query: '' }), '')
  assert.equal(requestCode({ maxQueryParameters: 2 }, { query: 'a=1&b=2' }), '')
  assert.equal(requestCode({ maxQueryParameters: 2 }, { query: 'a=1&&b=2' }), 'GW_URL_TOO_LONG')
})

test('number, length and total size of header lines are limited', () => {
  const headers = ['a', '1', 'bb', '22']
  assert.equal(requestCode({ maxHeaders: 2 }, { headers }), '')
  assert.equal(requestCode({ maxHeaders: 1 }, { headers }), 'GW_HEADERS_TOO_LARGE')
  assert.equal(requestCode({ maxHeaderBytes: '14b' }, { headers }), '')
  assert.equal(requestCode({ maxHeaderBytes: '13b' }, { headers }), 'GW_HEADERS_TOO_LARGE')
  assert.equal(requestCode({ maxHeaderValueBytes: '2b' }, { headers }), '')
  assert.equal(requestCode({ maxHeaderValueBytes: '1b' }, { headers }), 'GW_HEADERS_TOO_LARGE')
})

test('an announced body is refused at once, and the limit of a streaming one is lowered', () => {
  assert.equal(requestCode({ maxBodyBytes: '1kb' }, { contentLength: 1025 }), 'GW_BODY_TOO_LARGE')
  const x = exchange({ contentLength: -1 })
  assert.equal(compile({ request: { maxBodyBytes: '1kb' } }).onRequest!(x), null)
  assert.equal(x.bodyLimit, 1024)
  const strict = exchange({ contentLength: 10, bodyLimit: 100 })
  compile({ request: { maxBodyBytes: '1kb' } }).onRequest!(strict)
  assert.equal(strict.bodyLimit, 100)
})

test('a body that is too small is refused by its announced length, or after it was received', () => {
  const step = compile({ request: { minBodyBytes: '3b' } })
  for (const contentLength of [0, 2]) {
    assert.equal(requestCode({ minBodyBytes: '3b' }, { contentLength }), 'GW_BODY_TOO_SMALL')
  }
  const x = exchange({ contentLength: -1 })
  assert.equal(step.onRequest!(x), null)
  assert.equal((step.onRequestBody!(x, Buffer.from('ab')) as Outcome)?.status, 400)
  assert.equal(step.onRequestBody!(x, Buffer.from('abc')), null)
})

test('bodies are buffered only for a minimum size', () => {
  assert.equal(compile({ request: { maxBodyBytes: '1kb' } }).onRequestBody, undefined)
  const both = compile({ response: { maxBodyBytes: '1kb', minBodyBytes: '1b' } })
  assert.equal(both.onResponseBody, undefined)
  assert.equal(both.onRequest, undefined)
})

test('a response over a limit is an upstream error', () => {
  assert.equal(
    responseCode({ maxHeaders: 1 }, { responseHeaders: ['a', '1', 'b', '2'] }),
    'GW_RESPONSE_INVALID',
  )
  assert.equal(responseCode({ maxBodyBytes: '1kb' }, { responseLength: 1025 }), 'GW_RESPONSE_INVALID')
  assert.equal(responseCode({ maxBodyBytes: '1kb' }, { responseLength: 1024 }), '')
  assert.equal(responseCode({ minBodyBytes: '2b' }, { responseLength: 1 }), 'GW_RESPONSE_INVALID')
  assert.equal(responseCode({ minBodyBytes: '2b' }, { responseLength: -1 }), '')
})

test('a response of unknown length is cut at the limit', () => {
  const x = exchange({ status: 200, responseLength: -1 })
  assert.equal(compile({ response: { maxBodyBytes: '1kb' } }).onResponse!(x), null)
  assert.equal(x.responseCutoff, 1024)
  assert.equal(x.responseBodyLimit, 1024)
})

test('announced lengths of responses without a body are ignored', () => {
  const sizes = { maxBodyBytes: '10b', minBodyBytes: '5b' }
  assert.equal(responseCode(sizes, { method: 'HEAD', responseLength: 5000 }), '')
  assert.equal(responseCode(sizes, { status: 304, responseLength: 5000 }), '')
  assert.equal(responseCode(sizes, { status: 204, responseLength: 0 }), '')
})

test('limits that no message can satisfy are refused', () => {
  assert.throws(
    () => compile({ response: { minBodyBytes: '2kb', maxBodyBytes: '1kb' } }),
    /under 'response': 'minBodyBytes' 2kb is above/,
  )
  assert.throws(() => compile({ request: { maxUrlBytes: 'long' } }), /under 'request': 'long' is not a size/)
})

test('the schema accepts documented options and refuses others', () => {
  assert.deepEqual(schemaMistakes(sizeLimit, { request: { maxHeaders: 5 }, response: {} }).length, 1)
  assert.deepEqual(schemaMistakes(sizeLimit, { response: { maxBodyBytes: '1mb' } }), [])
  for (const config of [
    {},
    { request: { maxHeaders: 0 } },
    { request: { maxBodyBytes: 5 } },
    { response: { maxUrlBytes: '1kb' } },
    { both: {} },
  ]) {
    assert.notDeepEqual(schemaMistakes(sizeLimit, config), [], JSON.stringify(config))
  }
})
