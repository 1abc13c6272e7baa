import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { headerCount, headerValue, type Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { securityHeaders } from './policy.js'
import type { securityHeadersSchema } from './schema.js'

type SecurityHeadersConfig = Static<typeof securityHeadersSchema>

function respond(
  config: SecurityHeadersConfig,
  responseHeaders: string[] = [],
  scheme: 'http' | 'https' = 'https',
): string[] {
  const x = exchange({ responseHeaders: [...responseHeaders], scheme })
  const step = securityHeaders.compile(config, testEnv()) as Step
  step.onResponse!(x)
  return x.responseHeaders
}

test('the api preset forbids framing and sniffing, the web preset allows self-framing', () => {
  const api = respond({})
  assert.equal(headerValue(api, 'content-security-policy'), "default-src 'none'; frame-ancestors 'none'")
  assert.equal(headerValue(api, 'x-content-type-options'), 'nosniff')
  const web = respond({ preset: 'web' })
  assert.equal(headerValue(web, 'x-frame-options'), 'SAMEORIGIN')
  assert.deepEqual(respond({ preset: 'none' }), [])
})

test('HSTS is sent only over HTTPS', () => {
  const name = 'strict-transport-security'
  assert.equal(headerValue(respond({}), name), 'max-age=31536000')
  assert.equal(headerValue(respond({}, [], 'http'), name), null)
  const own = { headers: { 'Strict-Transport-Security': 'max-age=60; includeSubDomains' } }
  assert.equal(headerValue(respond(own), name), 'max-age=60; includeSubDomains')
  assert.equal(headerValue(respond(own, [], 'http'), name), null)
})

test('a value overrides the preset, false omits the field', () => {
  const list = respond({ headers: { 'X-Frame-Options': 'SAMEORIGIN', 'referrer-policy': false } })
  assert.equal(headerValue(list, 'x-frame-options'), 'SAMEORIGIN')
  assert.equal(headerValue(list, 'referrer-policy'), null)
})

test('upstream fields are kept, or completely replaced with overwrite', () => {
  const upstream = ['x-frame-options', 'ALLOWALL', 'a', 'b', 'x-frame-options', 'DENY']
  assert.deepEqual(respond({ preset: 'none', headers: { 'x-frame-options': 'DENY' } }, upstream), upstream)
  const replaced = respond({ overwrite: true }, upstream)
  assert.equal(headerCount(replaced, 'x-frame-options'), 1)
  assert.equal(headerValue(replaced, 'x-frame-options'), 'DENY')
})

test('fields that reveal software are removed, or the configured ones', () => {
  const upstream = ['server', 'nginx/1.2', 'x-powered-by', 'PHP', 'a', 'b']
  assert.deepEqual(respond({ preset: 'none' }, upstream), ['a', 'b'])
  assert.deepEqual(respond({ preset: 'none', remove: ['A'] }, upstream), upstream.slice(0, 4))
  assert.deepEqual(respond({ preset: 'none', remove: [] }, upstream), upstream)
})

test('other fields, and values that would break the response, are refused', () => {
  const compile = (config: SecurityHeadersConfig) => () => securityHeaders.compile(config, testEnv())
  assert.throws(compile({ headers: { 'x-other': 'a' } }), /set other fields with 'header'/)
  assert.throws(compile({ headers: { __proto__x: 'a' } }), /is not one of/)
  for (const value of ['a\r\nset-cookie: b', 'ä', 'a\0']) {
    assert.throws(compile({ headers: { 'referrer-policy': value } }), /not allowed in headers/)
  }
  for (const name of ['content-length', 'Transfer-Encoding', 'a b', '']) {
    assert.throws(compile({ remove: [name] }), /not a header that can be removed/)
  }
  assert.equal(schemaMistakes(securityHeaders, { headers: { 'referrer-policy': true } }).length > 0, true)
})
