import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFieldValue } from '@sluice/core'
import fc from 'fast-check'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { header } from './policy.js'
import type { HeaderConfig, HeaderEdits } from './schema.js'

function requestAfter(edits: HeaderConfig['request'], headers: string[], fields = {}): string[] {
  const x = exchange({ headers, ...fields })
  const step = compile({ request: edits ?? {} })
  assert.equal(step?.onRequest?.(x), null)
  return x.headers
}

function responseAfter(edits: HeaderEdits, headers: string[]): string[] {
  const x = exchange({ responseHeaders: headers })
  assert.equal(compile({ response: edits })?.onResponse?.(x), null)
  return x.responseHeaders
}

function compile(config: HeaderConfig) {
  const step = header.compile(config, testEnv())
  assert.ok(!(step instanceof Promise))
  return step
}

test('set leaves one line in the place of the first, or adds it', () => {
  assert.deepEqual(requestAfter({ set: { 'X-A': '1' } }, ['b', '2']), ['b', '2', 'x-a', '1'])
  assert.deepEqual(requestAfter({ set: { 'x-a': '1' } }, ['x-a', '0', 'b', '2', 'x-a', '9']), [
    'x-a',
    '1',
    'b',
    '2',
  ])
})

test('setIfAbsent keeps an existing field', () => {
  const edits = { setIfAbsent: { 'x-a': '1', 'x-b': '2' } }
  assert.deepEqual(requestAfter(edits, ['x-a', '0']), ['x-a', '0', 'x-b', '2'])
})

test('append adds one line for each value', () => {
  assert.deepEqual(requestAfter({ append: { via: ['a', 'b'], 'x-a': 'c' } }, ['via', '0']), [
    'via',
    '0',
    'via',
    'a',
    'via',
    'b',
    'x-a',
    'c',
  ])
})

test('remove takes every line of a name, and with a star every name that begins so', () => {
  const headers = ['x-internal-a', '1', 'b', '2', 'X', '3', 'x-internal', '4', 'b', '5', 'x-internal-', '6']
  assert.deepEqual(requestAfter({ remove: ['X-Internal-*', 'B'] }, headers), ['X', '3', 'x-internal', '4'])
})

test('rename keeps the values and their order, and removes lines that had the new name', () => {
  const headers = ['new', 'forged', 'old', '1', 'a', '2', 'old', '3']
  assert.deepEqual(requestAfter({ rename: { Old: 'New' } }, headers), ['new', '1', 'a', '2', 'new', '3'])
  assert.deepEqual(requestAfter({ rename: { old: 'new' } }, ['new', 'kept']), ['new', 'kept'])
})

test('the order is remove, rename, set, setIfAbsent, append', () => {
  const edits = {
    append: { 'x-c': 'appended' },
    setIfAbsent: { 'x-b': 'absent', 'x-d': 'absent' },
    set: { 'x-b': 'set' },
    rename: { 'x-a': 'x-c' },
    remove: ['x-c'],
  }
  assert.deepEqual(requestAfter(edits, ['x-c', 'old', 'x-a', 'renamed']), [
    'x-c',
    'renamed',
    'x-b',
    'set',
    'x-d',
    'absent',
    'x-c',
    'appended',
  ])
})

test('the response side changes the response, and a side without changes has no hook', () => {
  assert.deepEqual(responseAfter({ set: { 'x-a': '1' } }, ['x-a', '0']), ['x-a', '1'])
  assert.equal(compile({ response: { set: { a: '1' } } })?.onRequest, undefined)
  assert.equal(compile({ request: { set: { a: '1' } } })?.onResponse, undefined)
  assert.equal(compile({ request: {} }), null)
  assert.equal(compile({ response: { securityHeaders: false } }), null)
})

test('securityHeaders adds only fields that the upstream has not set', () => {
  assert.deepEqual(responseAfter({ securityHeaders: true }, ['x-frame-options', 'SAMEORIGIN']), [
    'x-frame-options',
    'SAMEORIGIN',
    'x-content-type-options',
    'nosniff',
    'referrer-policy',
    'no-referrer',
    'content-security-policy',
    "frame-ancestors 'none'",
  ])
})

test('a template renders per request, on both sides', () => {
  const step = compile({
    request: { set: { 'x-id': 'r-{{req.id}}' } },
    response: { append: { 'x-for': '{{req.header.x-tenant}}' } },
  })
  for (const id of ['a', 'b']) {
    const x = exchange({ id, headers: ['x-tenant', `tenant ${id}`] })
    assert.equal(step?.onRequest?.(x), null)
    assert.equal(step?.onResponse?.(x), null)
    assert.deepEqual(x.headers, ['x-tenant', `tenant ${id}`, 'x-id', `r-${id}`])
    assert.deepEqual(x.responseHeaders, ['x-for', `tenant ${id}`])
  }
})

test('an empty rendered value also removes the field sent by the client', () => {
  const templates = {
    set: { 'x-user': '{{consumer.id}}' },
    setIfAbsent: { 'x-b': '{{vars.b}}' },
    append: { 'x-c': '{{vars.c}}' },
  }
  assert.deepEqual(requestAfter(templates, ['x-user', 'forged', 'a', '1']), ['a', '1'])
})

test('no rendered value can break out of its line', () => {
  const hostile = fc.constantFrom('a\r\nx: y', 'a\nb', '\0', 'ü')
  const edits = { set: { 'x-a': '{{vars.sent}}' }, append: { 'x-b': 'b{{vars.sent}}' } }
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), hostile), (sent) => {
      const headers = requestAfter(edits, [], { vars: new Map([['sent', sent]]) })
      for (const text of headers) assert.ok(isFieldValue(text))
      assert.equal(headers.includes('x-b'), isFieldValue(sent))
    }),
  )
})

test('fields of the gateway are refused in every list of both sides', () => {
  const names = [
    'Content-Length',
    'Host',
    'Transfer-Encoding',
    'connection',
    'Date',
    'server',
    'keep-alive',
    'te',
    'trailer',
    'upgrade',
    'proxy-connection',
    'proxy-authorization',
  ]
  for (const side of ['request', 'response'] as const) {
    for (const name of names) {
      const lists: HeaderEdits[] = [
        { set: { [name]: '1' } },
        { setIfAbsent: { [name]: '1' } },
        { append: { [name]: '1' } },
        { remove: [name] },
        { rename: { [name]: 'x-a' } },
        { rename: { 'x-a': name } },
      ]
      for (const edits of lists)
        assert.throws(() => compile({ [side]: edits }), /cannot be changed/, `${side} ${name}`)
    }
  }
  assert.throws(() => compile({ request: { set: { Host: 'a' } } }), /use 'rewrite.host' of the route/)
})

test('a wildcard that covers a field of the gateway is refused', () => {
  assert.throws(() => compile({ request: { remove: ['conn*'] } }), /'conn\*' covers 'connection'/)
  assert.throws(() => compile({ request: { remove: ['*'] } }), /is not a wildcard/)
  assert.throws(() => compile({ request: { remove: ['x-*-a'] } }), /star in the middle/)
  assert.throws(() => compile({ request: { remove: ['x-**'] } }), /is not a wildcard/)
})

test('a line break in a configured value or name is refused with its reason', () => {
  assert.throws(
    () => compile({ request: { set: { 'x-a': '1\r\nx-b: 2' } } }),
    /value of 'x-a' has a line break/,
  )
  assert.throws(() => compile({ response: { append: { 'x-a': ['ok', '{{req.id}}\n'] } } }), /line break/)
  assert.throws(
    () => compile({ request: { set: { 'x-a\r\nx-b': '1' } } }),
    /'x-a\\r\\nx-b' is not a header name/,
  )
  assert.throws(() => compile({ request: { set: { 'x-a': 'Zürich' } } }), /not allowed in headers/)
  assert.throws(() => compile({ request: { set: { 'x a': '1' } } }), /is not a header name/)
  assert.throws(() => compile({ request: { set: { '': '1' } } }), /is not a header name/)
})

test('two spellings of one name and renames that meet are refused', () => {
  assert.throws(
    () => compile({ request: { set: { 'x-a': '1', 'X-A': '2' } } }),
    /'x-a' is listed twice under request.set/,
  )
  assert.throws(
    () => compile({ request: { rename: { a: 'b', b: 'c' } } }),
    /'b' is both an old and a new name/,
  )
  assert.throws(() => compile({ request: { rename: { a: 'A' } } }), /both an old and a new name/)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const valid: HeaderConfig[] = [
    { request: { set: { 'x-a': '1' }, remove: ['x-*'], append: { a: ['1', '2'], b: '3' } } },
    { response: { securityHeaders: true, rename: { a: 'b' }, setIfAbsent: { c: 'd' } } },
  ]
  for (const config of valid) assert.deepEqual(schemaMistakes(header, config), [])
  const invalid: unknown[] = [
    {},
    { requests: {} },
    { request: { add: {} } },
    { request: { securityHeaders: true } },
    { request: { set: { 'x-a': 1 } } },
    { request: { set: {} } },
    { request: { remove: 'x-a' } },
    { request: { append: { a: [] } } },
    { response: { set: { a: 'x'.repeat(8193) } } },
  ]
  for (const config of invalid)
    assert.notDeepEqual(schemaMistakes(header, config), [], JSON.stringify(config))
})

test('in a request no other spelling of a name can be taken for it', () => {
  const forged = ['x_a', '1', 'x-a_b', '2', 'x-ab', '3', 'xa', '4']
  assert.deepEqual(requestAfter({ set: { 'x-a': 'set' } }, [...forged]), [...forged.slice(2), 'x-a', 'set'])
  assert.deepEqual(requestAfter({ set: { x_a_b: 'set' } }, [...forged]), [
    ...['x_a', '1', 'x-ab', '3', 'xa', '4', 'x_a_b', 'set'],
  ])
  assert.deepEqual(requestAfter({ remove: ['x-a', 'X-A-B'] }, [...forged]), forged.slice(4))
  assert.deepEqual(requestAfter({ remove: ['x-*'] }, [...forged]), ['xa', '4'])
  assert.deepEqual(requestAfter({ rename: { xa: 'x-a' } }, [...forged]), [...forged.slice(2, 6), 'x-a', '4'])
  assert.deepEqual(responseAfter({ set: { 'x-a': 'set' } }, ['x_a', '1']), ['x_a', '1', 'x-a', 'set'])
  assert.throws(() => compile({ request: { set: { 'x-a': '1', x_a: '2' } } }), /is listed twice/)
})
