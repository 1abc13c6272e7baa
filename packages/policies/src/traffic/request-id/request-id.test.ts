import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { type Exchange, headerValue, type Step } from '@sluice/core'
import { exchange, testEnv } from '../../testing.js'
import { requestId } from './policy.js'
import type { requestIdSchema } from './schema.js'

type RequestIdConfig = Static<typeof requestIdSchema>

const NAME = 'x-correlation-id'

function run(config: RequestIdConfig, headers: string[] = [], x: Exchange = exchange({ headers })): Exchange {
  const step = requestId.compile(config, testEnv()) as Step
  step.onRequest!(x)
  x.responseHeaders = [NAME, 'of the upstream']
  step.onResponse?.(x)
  return x
}

test('the upstream and the client get the id, by default the one in the log', () => {
  const x = run({})
  assert.deepEqual(x.headers, [NAME, x.id])
  assert.deepEqual(x.responseHeaders, [NAME, x.id])
})

test('each format is valid, and every request gets a different id', () => {
  const forms = {
    'uuid-v4': /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    'uuid-v7': /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ulid: /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/,
  }
  for (const [format, pattern] of Object.entries(forms) as [keyof typeof forms, RegExp][]) {
    const step = requestId.compile({ format }, testEnv()) as Step
    const ids = Array.from({ length: 100 }, () => {
      const x = exchange({ startedAt: 1_700_000_000_000 })
      step.onRequest!(x)
      return headerValue(x.headers, NAME)!
    })
    for (const id of ids) assert.match(id, pattern)
    assert.equal(new Set(ids).size, 100)
    if (format !== 'uuid-v4') assert.deepEqual([...ids].sort(), ids, 'in the order of time')
    // 1,700,000,000,000 ms in ten Crockford digits.
    if (format === 'ulid') assert.equal(ids[0]!.slice(0, 10), '01HF7YAT00')
  }
})

test('an id from the client is kept only if trusted and harmless', () => {
  const mine = [NAME, 'order-7.a:b_c']
  assert.equal(headerValue(run({}, [...mine]).headers, NAME), run({}).id)
  assert.deepEqual(run({ trustIncoming: true }, [...mine]).responseHeaders, mine)
  for (const id of ['', 'a b', 'a\r\nset-cookie: b', '<script>', 'ä', 'a'.repeat(129), '${jndi:ldap://a}']) {
    assert.deepEqual(run({ trustIncoming: true }, [NAME, id]).headers, [NAME, run({}).id], id)
  }
  const twice = run({ trustIncoming: true }, [NAME, 'a', NAME, 'b'])
  assert.deepEqual(twice.headers, [NAME, twice.id])
})

test('without echo the response stays unchanged', () => {
  assert.deepEqual(run({ echo: false }).responseHeaders, [NAME, 'of the upstream'])
})

test('fields of the gateway are refused, including x-request-id', () => {
  const compile = (header: string) => () => requestId.compile({ header }, testEnv())
  assert.throws(compile('X-Request-Id'), /every request already has/)
  assert.throws(compile('content-length'), /set by the gateway/)
  assert.throws(compile('a b'), /not a header name/)
})
