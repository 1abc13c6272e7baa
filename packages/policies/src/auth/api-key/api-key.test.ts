import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { consumerOf, type Exchange, type Outcome } from '@sluice/core'
import fc from 'fast-check'
import {
  parameterStart,
  parameterValue,
  withoutParameter,
} from '../../shared/field-location/query-parameter.js'
import { parseInstant } from '../../shared/time/instant.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { hashKey, newKey } from './key.js'
import { apiKey } from './policy.js'
import type { apiKeySchema } from './schema.js'

type ApiKeyConfig = Static<typeof apiKeySchema>

const { key, sha256 } = newKey()
const keys = [{ id: 'acme', sha256, groups: ['partners'] }]

function run(config: Partial<ApiKeyConfig>, x: Exchange): Outcome {
  const step = apiKey.compile({ keys, ...config }, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const outcome = step.onRequest?.(x) ?? null
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

function code(config: Partial<ApiKeyConfig>, fields: Partial<Exchange>): string {
  return run(config, exchange(fields))?.problem?.code ?? ''
}

test('a known key names the consumer and is removed before the upstream', () => {
  const x = exchange({ headers: ['a', '1', 'x-api-key', key] })
  assert.equal(run({}, x), null)
  assert.deepEqual(x.consumer, consumerOf('api-key', 'acme', { groups: ['partners'] }))
  assert.deepEqual(x.headers, ['a', '1'])
})

test('strip: false leaves the key in the request', () => {
  const x = exchange({ headers: ['x-api-key', key] })
  assert.equal(run({ strip: false }, x), null)
  assert.deepEqual(x.headers, ['x-api-key', key])
  const inQuery = exchange({ query: `api_key=${key}` })
  assert.equal(run({ in: 'query', name: 'api_key', strip: false }, inQuery), null)
  assert.equal(inQuery.query, `api_key=${key}`)
})

test('no key, an unknown key, two keys and a key of more than 512 characters are refused', () => {
  assert.equal(code({}, {}), 'GW_AUTH_MISSING')
  assert.equal(code({}, { headers: ['x-api-key', ''] }), 'GW_AUTH_MISSING')
  assert.equal(code({}, { headers: ['x-api-key', `${key}x`] }), 'GW_AUTH_INVALID')
  assert.equal(code({}, { headers: ['x-api-key', sha256] }), 'GW_AUTH_INVALID')
  assert.equal(code({}, { headers: ['x-api-key', key, 'x-api-key', key] }), 'GW_AUTH_INVALID')
  const long = 'k'.repeat(513)
  const config = { keys: [{ id: 'long', sha256: hashKey(long) }] }
  assert.equal(code(config, { headers: ['x-api-key', long] }), 'GW_AUTH_INVALID')
})

test('a refused request keeps its header and gets no consumer', () => {
  const x = exchange({ headers: ['x-api-key', 'wrong'] })
  assert.equal(run({}, x)?.status, 401)
  assert.equal(x.consumer, null)
  assert.deepEqual(x.headers, ['x-api-key', 'wrong'])
})

test('a refusal names the place of the key and never repeats the key', () => {
  const header = run({ name: 'X-Key' }, exchange({ headers: ['x-key', 'guess-1'] }))
  assert.deepEqual(header?.headers, [
    'x-gw-error',
    'GW_AUTH_INVALID',
    'www-authenticate',
    'ApiKey in="header", name="x-key"',
  ])
  assert.doesNotMatch(JSON.stringify(header), /guess-1/)
  assert.equal(run({ in: 'query', name: 'k' }, exchange())?.headers[3], 'ApiKey in="query", name="k"')
  assert.equal(run({ name: 'authorization', prefix: 'Bearer ' }, exchange())?.headers[3], 'Bearer')
})

test('a prefix is needed, compared without case, and not part of the key', () => {
  const config = { name: 'Authorization', prefix: 'Bearer ' }
  const x = exchange({ headers: ['authorization', `bEARER ${key}`] })
  assert.equal(run(config, x), null)
  assert.deepEqual(x.headers, [])
  assert.equal(code(config, { headers: ['authorization', key] }), 'GW_AUTH_MISSING')
  assert.equal(code(config, { headers: ['authorization', 'Bearer '] }), 'GW_AUTH_MISSING')
  assert.equal(code({ in: 'query', name: 'k', prefix: 'v1.' }, { query: `k=v1.${key}` }), '')
})

test('a key ends at its moment', () => {
  const at = Date.parse('2030-01-31T00:00:00Z')
  const config = { keys: [{ id: 'acme', sha256, expires: '2030-01-31' }] }
  const headers = ['x-api-key', key]
  assert.equal(code(config, { headers: [...headers], startedAt: at - 1 }), '')
  assert.equal(code(config, { headers: [...headers], startedAt: at }), 'GW_AUTH_EXPIRED')
})

test('several keys may belong to one consumer', () => {
  const other = newKey()
  const config = { keys: [...keys, { id: 'acme', name: 'Acme Ltd', sha256: other.sha256.toUpperCase() }] }
  for (const presented of [key, other.key]) {
    const x = exchange({ headers: ['x-api-key', presented] })
    assert.equal(run(config, x), null)
    assert.equal(x.consumer?.id, 'acme')
  }
})

test('a key in the query is taken out and every other byte stays', () => {
  const rest: [string, string][] = [
    [`k=${key}`, ''],
    [`k=${key}&a=%zz+1`, 'a=%zz+1'],
    [`a=1&k=${key}&b=%2f`, 'a=1&b=%2f'],
    [`a=1&&b&k=${key}`, 'a=1&&b'],
    [`kk=1&%6b=${key}`, 'kk=1'],
  ]
  for (const [query, left] of rest) {
    const x = exchange({ query })
    assert.equal(run({ in: 'query', name: 'k' }, x), null, query)
    assert.equal(x.query, left)
  }
})

test('a repeated, an absent and an unreadable query key are refused', () => {
  const config = { in: 'query', name: 'k' } as const
  assert.equal(code(config, { query: `k=${key}&k=${key}` }), 'GW_AUTH_INVALID')
  assert.equal(code(config, { query: `k=${key}&%6B=other` }), 'GW_AUTH_INVALID')
  assert.equal(code(config, { query: `k=${key}&k` }), 'GW_AUTH_INVALID')
  assert.equal(code(config, { query: 'k=%zz' }), 'GW_AUTH_INVALID')
  for (const query of ['', 'k', 'k=', 'kk=1', 'a=k', 'K=1'])
    assert.equal(code(config, { query }), 'GW_AUTH_MISSING', query)
})

test('taking a parameter out agrees with URLSearchParams on what is left', () => {
  const part = fc.constantFrom('k', 'k=1', 'a=1', 'b', 'kk=2', 'c=%20', '', '=', 'a=k=1', '%6B=2')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const query = parts.join('&')
      const expected = new URLSearchParams(query)
      const values = expected.getAll('k')
      const start = parameterStart(query, 'k')
      assert.equal(start < 0 ? start : 1, values.length === 0 ? -1 : values.length > 1 ? -2 : 1)
      if (start < 0) return
      assert.equal(parameterValue(query, start), values[0])
      expected.delete('k')
      assert.equal(new URLSearchParams(withoutParameter(query, start)).toString(), expected.toString())
    }),
    { numRuns: 1000 },
  )
})

test('a new key is random, long, and hashed with SHA-256', () => {
  const made = newKey()
  assert.match(made.key, /^gw_[\w-]{43}_[0-9a-f]{8}$/)
  assert.notEqual(made.key, newKey().key)
  assert.equal(made.sha256, createHash('sha256').update(made.key).digest('hex'))
  assert.equal(hashKey('kéy'), createHash('sha256').update('kéy', 'utf8').digest('hex'))
})

test('a plain key in the configuration is refused with the remedy, and not repeated', () => {
  assert.throws(
    () => apiKey.compile({ keys: [{ id: 'acme', sha256: 'plain-secret-key' }] }, testEnv()),
    (error: Error) =>
      /key 1 \('acme'\) is not a SHA-256 digest.*gw hash-key/.test(error.message) &&
      !error.message.includes('plain-secret'),
  )
})

test('a duplicate digest, an invalid name and an invalid time are rejected', () => {
  const compile = (config: Partial<ApiKeyConfig>) => () => apiKey.compile({ keys, ...config }, testEnv())
  assert.throws(
    compile({ keys: [...keys, { id: 'b', sha256: sha256.toUpperCase() }] }),
    /repeats the key of 'acme'/,
  )
  assert.throws(compile({ keys: [] }), /'keys' is empty/)
  assert.throws(compile({ consumers: { file: 'a.jsonl' } }), /write either 'keys' or 'consumers'/)
  assert.throws(() => apiKey.compile({}, testEnv()), /write either/)
  assert.throws(compile({ name: 'x key' }), /is not a header name/)
  assert.throws(compile({ in: 'query', name: 'a&b' }), /is not a name for a cookie or query parameter/)
  assert.throws(
    compile({ keys: [{ id: 'a', sha256, expires: 'soon' }] }),
    /under 'expires' of key 1 \('a'\): 'soon' is not/,
  )
})

test('a moment is a day in UTC or a time with its offset', () => {
  assert.equal(parseInstant('2030-01-31'), Date.UTC(2030, 0, 31))
  assert.equal(parseInstant('2030-01-31T12:00:00Z'), Date.UTC(2030, 0, 31, 12))
  assert.equal(parseInstant('2030-01-31T12:00+02:00'), Date.UTC(2030, 0, 31, 10))
  for (const text of [
    '2030-02-31',
    '2030-13-01',
    '2030-1-1',
    '2030-01-31T12:00:00',
    '31.01.2030',
    '',
    '2030-01-31T25:00:00Z',
  ]) {
    assert.throws(() => parseInstant(text), /is not a valid date or time; use/, text)
  }
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { keys: [{ id: 'a', sha256 }] }
  assert.deepEqual(schemaMistakes(apiKey, defaulted), [])
  assert.deepEqual(defaulted, { keys: [{ id: 'a', sha256 }], in: 'header', name: 'x-api-key', strip: true })
  for (const config of [
    { keys: [] },
    { keys: [{ id: 'a' }] },
    { keys, in: 'cookie' },
    { keys: [{ id: 'a', key: 'b', sha256 }] },
  ]) {
    assert.notDeepEqual(schemaMistakes(apiKey, config), [], JSON.stringify(config))
  }
})
