import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Eventual, Outcome, Step } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { redact } from './policy.js'
import type { RedactConfig, RedactRule } from './schema.js'

const SECRET = 'a secret of enough length'
const CARD = '4111 1111 1111 1111'

function compile(config: RedactConfig): Step {
  return redact.compile(config, testEnv()) as Step
}

function now(outcome: Eventual | undefined): Outcome {
  assert.ok(!(outcome instanceof Promise))
  return outcome ?? null
}

/** Returns the response body that the client gets. */
function received(
  rules: RedactRule[],
  body: string | Buffer,
  type = 'application/json',
  more: Partial<RedactConfig> = {},
): string {
  const x = exchange({ responseHeaders: ['content-type', type], responseBody: Buffer.from(body) })
  const outcome = now(compile({ rules, secret: SECRET, ...more }).onResponseBody!(x, x.responseBody!))
  return outcome === null ? Buffer.from(x.responseBody!).toString() : (outcome.problem?.code ?? '')
}

test('members are redacted by name, at any depth and in any case', () => {
  const body = '{"Password":"a","u":{"password":"b","list":[{"PASSWORD":["c"]}]},"passwords":"d","n":null}'
  assert.equal(
    received([{ keys: ['password', 'n'] }], body),
    '{"Password":"***","u":{"password":"***","list":[{"PASSWORD":"***"}]},"passwords":"d","n":null}',
  )
  assert.equal(
    received([{ keys: ['password'], action: 'delete' }], body),
    '{"u":{"list":[{}]},"passwords":"d","n":null}',
  )
})

test('values are redacted by their path', () => {
  const body = '{"users":[{"name":"a","pin":1234},{"name":"b"}],"pin":true,"tags":["x","y","z"]}'
  assert.equal(
    received([{ paths: ['$.users[*].pin', '$.pin'] }], body),
    '{"users":[{"name":"a","pin":"***"},{"name":"b"}],"pin":"***","tags":["x","y","z"]}',
  )
  const deleted = received(
    [{ paths: ['$.tags[0]', '$.tags[-1]', "$['pin']", '$..name'], action: 'delete' }],
    body,
  )
  assert.equal(deleted, '{"users":[{"pin":1234},{}],"tags":["y"]}')
  assert.equal(received([{ paths: ['$.tags'], keepFirst: 2 }], '{"tags":["secret"]}'), '{"tags":"***"}')
})

test('value types are found anywhere, also as numbers and escaped', () => {
  const body = `{"a":"card ${CARD}, ok","b":4111111111111111,"c":"4111\\u00201111 1111 1111","d":"4111 1111 1111 1112"}`
  assert.equal(
    received([{ types: ['card'], keepLast: 4 }], body),
    '{"a":"card ***1111, ok","b":"***1111","c":"***1111","d":"4111 1111 1111 1112"}',
  )
  assert.equal(
    received([{ types: ['email', 'iban'] }], '"to a@example.com GB82WEST12345698765432"'),
    '"to *** ***"',
  )
  assert.equal(received([{ types: ['email'] }], 'mail a@example.com', 'text/plain'), 'mail ***')
  assert.equal(received([{ types: ['tckn'] }], '<id>10000000146</id>', 'text/xml'), '<id>***</id>')
})

test('patterns are found in strings of JSON and in text', () => {
  const rules: RedactRule[] = [{ patterns: ['ID-\\d+'], keepFirst: 3 }]
  assert.equal(received(rules, '{"ID-1":"x ID-12345 y"}'), '{"ID-1":"x ID-*** y"}')
  assert.equal(received(rules, 'x ID-12345 y ID-678901', 'text/plain'), 'x ID-*** y ID-***')
  assert.equal(received([{ patterns: ['b+'], action: 'delete' }], 'abbbc', 'text/plain'), 'ac')
})

test('a mask hides more than it shows, and never reveals the length', () => {
  const masked = (value: string, keepFirst: number, keepLast: number): string =>
    JSON.parse(received([{ paths: ['$.v'], keepFirst, keepLast }], JSON.stringify({ v: value }))).v as string
  assert.equal(masked('12345678', 2, 2), '12***78')
  assert.equal(masked('1234567', 2, 2), '***')
  assert.equal(masked('😀😀😀😀', 1, 1), '😀***😀')
  fc.assert(
    fc.property(fc.string(), fc.nat({ max: 8 }), fc.nat({ max: 8 }), (value, first, last) => {
      const shown = [...masked(value, first, last)].length - 3
      assert.ok(shown * 2 <= [...value].length)
    }),
    { numRuns: 200 },
  )
})

test('a hash is keyed, and equal for equal values', () => {
  const digest = createHmac('sha256', SECRET).update('42').digest('base64url')
  const rules: RedactRule[] = [{ keys: ['id'], action: 'hash' }]
  assert.equal(
    received(rules, '{"id":"42","x":{"id":42}}'),
    `{"id":"hmac-sha256:${digest}","x":{"id":"hmac-sha256:${digest}"}}`,
  )
  const ofObject = createHmac('sha256', SECRET).update('{"a":1}').digest('base64url')
  assert.equal(received(rules, '{"id":{"a":1}}'), `{"id":"hmac-sha256:${ofObject}"}`)
})

test('header lines and query parameters are redacted, others stay unchanged', () => {
  const step = compile({
    secret: SECRET,
    rules: [
      { phase: 'both', headers: ['X-User'], action: 'delete' },
      { phase: 'request', headers: ['x-card'], keepLast: 4, query: ['Token'] },
    ],
  })
  const x = exchange({
    headers: ['x-user', 'a', 'b', 'c', 'x-card', '4111111111111111', 'x-user', 'd'],
    query: 'a=%7e+b&token=s3cret&%74oken=x&token&token=',
    responseHeaders: ['x-user', 'a', 'x-card', '1'],
  })
  assert.equal(step.onRequest!(x), null)
  assert.deepEqual(x.headers, ['b', 'c', 'x-card', '***1111'])
  assert.equal(x.query, 'a=%7e+b&token=***&%74oken=***&token&token=')
  assert.equal(step.onResponse!(x), null)
  assert.deepEqual(x.responseHeaders, ['x-card', '1'])
  assert.equal(step.onRequestBody, undefined)
  assert.equal(step.onResponseBody, undefined)
})

test('forms are redacted by name and by value', () => {
  const rules: RedactRule[] = [{ phase: 'request', keys: ['pass word'], types: ['card'] }]
  const x = exchange({
    headers: ['content-type', 'application/x-www-form-urlencoded'],
    body: Buffer.from('a=1%20&Pass+word=x&c=4111%201111+1111+1111'),
  })
  assert.equal(now(compile({ rules }).onRequestBody!(x, x.body!)), null)
  assert.equal(Buffer.from(x.body!).toString(), 'a=1%20&Pass+word=***&c=***')
})

test('a message without anything to redact stays unchanged byte for byte', () => {
  const body = ' {"a" : 1.0, "big":12345678901234567890 } '
  assert.equal(received([{ keys: ['b'], types: ['card'], patterns: ['zzz'] }], body), body)
})

test('no value of a duplicate name passes unchecked', () => {
  assert.equal(received([{ types: ['card'] }], `{"a":"${CARD}","a":"x"}`), '{"a":"x"}')
  assert.equal(received([{ keys: ['a'] }], '{"a":"1","\\u0061":"2"}'), '{"a":"***"}')
})

test('names of inherited object members are ordinary names', () => {
  assert.equal(
    received([{ keys: ['__proto__'] }], '{"__proto__":{"x":1},"a":2}'),
    '{"__proto__":"***","a":2}',
  )
  assert.equal(received([{ paths: ['$.constructor'], action: 'delete' }], '{"a":2}'), '{"a":2}')
})

test('bodies that cannot be read are refused, unless they may pass', () => {
  const keys: RedactRule[] = [{ keys: ['a'] }]
  const types: RedactRule[] = [{ types: ['card'] }]
  const binary = Buffer.from([0xff, 0x00, 0x01])
  assert.equal(received(keys, '<a>1</a>', 'text/xml'), 'GW_RESPONSE_INVALID')
  assert.equal(received(keys, '{"a":1}', 'text/plain'), 'GW_RESPONSE_INVALID')
  assert.equal(received(types, binary, 'image/png'), 'GW_RESPONSE_INVALID')
  assert.equal(received(keys, '<a>1</a>', 'text/xml', { unreadable: 'pass' }), '<a>1</a>')
  assert.equal(
    received([{ paths: ['$.a'] }], 'a=1', 'application/x-www-form-urlencoded'),
    'GW_RESPONSE_INVALID',
  )
  assert.equal(received(keys, ''), '')
  assert.throws(() => received(keys, '{"a":'), { code: 'GW_RESPONSE_INVALID' })
  assert.equal(
    received(types, 'x'.repeat(2000), 'text/plain', { maxBodyBytes: '1kb' }),
    'GW_RESPONSE_INVALID',
  )
})

test('a text declared as UTF-16 does not pass unchecked', () => {
  const types: RedactRule[] = [{ types: ['email'] }]
  assert.equal(received(types, 'to ann@example.com', 'text/plain; charset=utf-16'), 'GW_RESPONSE_INVALID')
})

test('request errors are reported as client errors', () => {
  const step = compile({ rules: [{ phase: 'request', keys: ['a'] }], maxBodyBytes: '1kb' })
  const refusal = (headers: string[], body: string): string =>
    now(step.onRequestBody!(exchange({ headers }), Buffer.from(body)))?.problem?.code ?? ''
  assert.equal(refusal(['content-encoding', 'gzip'], 'x'), 'GW_MEDIA_TYPE')
  assert.equal(refusal(['content-type', 'text/plain; charset=utf-7'], 'x'), 'GW_MEDIA_TYPE')
  assert.equal(refusal(['content-type', 'application/json'], 'x'.repeat(1025)), 'GW_BODY_TOO_LARGE')
  assert.throws(() => refusal(['content-type', 'application/json'], '{'), { code: 'GW_BODY_UNPARSABLE' })
  const x = exchange()
  step.onRequest!(x)
  assert.equal(x.bodyLimit, 1024)
})

test('a large body is redacted on a thread with the same result', async () => {
  const step = compile({ rules: [{ keys: ['pin'] }] })
  const body = Buffer.from(JSON.stringify({ pin: 1, fill: 'x'.repeat(40_000) }))
  const x = exchange({ responseHeaders: ['content-type', 'application/json'], responseBody: body })
  const outcome = step.onResponseBody!(x, body)
  assert.ok(outcome instanceof Promise)
  assert.equal(await outcome, null)
  assert.equal((JSON.parse(Buffer.from(x.responseBody!).toString()) as { pin: string }).pin, '***')
  await assert.rejects(async () => step.onResponseBody!(x, Buffer.from(`{${'x'.repeat(40_000)}`)), {
    code: 'GW_RESPONSE_INVALID',
  })
})

test('no body makes redaction slow', () => {
  const rules: RedactRule[] = [
    { types: ['card', 'iban', 'tckn', 'email', 'phone', 'jwt'], patterns: ['(a+)+$', 'a[^b]*b|a'] },
  ]
  for (const unit of ['a', '1 ', '4111 ', '@', 'a@a.', 'eyJ', '%34', 'GB82 ', '{"a":', '[']) {
    const beforeMs = cpuMs()
    received(rules, unit.repeat(30_000 / unit.length), 'text/plain')
    assert.ok(cpuMs() - beforeMs < 10_000, unit)
  }
})

test('invalid rules are refused with their number', () => {
  const cases: [RedactRule, RegExp][] = [
    [{}, /rule 1: the rule selects nothing/],
    [{ query: ['a'] }, /rule 1: a response has no query/],
    [{ keys: ['a'], action: 'hash' }, /rule 1: 'hash' needs 'secret'/],
    [{ paths: ['$.a['] }, /rule 1: .*is not a JSON path/],
    [{ paths: ['$.a[?@.b]'] }, /rule 1: .*has a slice or a filter/],
    [{ patterns: ['(?=a)'] }, /rule 1: .*linear time/],
  ]
  for (const [rule, message] of cases) assert.throws(() => compile({ rules: [rule] }), message)
})

test('the schema accepts documented options and refuses others', () => {
  const defaulted = { rules: [{ keys: ['a'] }] }
  assert.deepEqual(schemaMistakes(redact, defaulted), [])
  assert.deepEqual(defaulted, {
    rules: [{ keys: ['a'], phase: 'response', action: 'mask', keepFirst: 0, keepLast: 0 }],
    maxBodyBytes: '1mb',
    unreadable: 'refuse',
  })
  for (const config of [
    {},
    { rules: [] },
    { rules: [{ paths: ['$'] }] },
    { rules: [{ types: ['ssn'] }] },
    { rules: [{ keys: ['a'], action: 'encrypt' }] },
    { rules: [{ keys: ['a'], keepLast: 65 }] },
    { rules: [{ keys: ['a'] }], secret: 'short' },
  ]) {
    assert.notDeepEqual(schemaMistakes(redact, config), [], JSON.stringify(config))
  }
})
