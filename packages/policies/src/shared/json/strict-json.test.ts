import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberOf, parseStrictObject } from './strict-json.js'

function parse(text: string): unknown {
  return parseStrictObject(Buffer.from(text))
}

test('what JSON.stringify writes of an object is read as it was', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (object) => {
      const text = JSON.stringify(object)
      assert.deepEqual(parse(text), JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('a duplicate name in an object is refused, however it is escaped', () => {
  for (const text of [
    '{"alg":"a","alg":"a"}',
    '{"alg":"a","\\u0061lg":"b"}',
    '{"a":{"b":1,"c":2,"b":3}}',
    '{"a":[{"b":1},{"c":1,"c":1}]}',
    '{ "a" : 1 , "b":[1,"a"], "a" : 2 }',
    '{"\\"":1,"\\"":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a\\\\":1,"a\\\\":2}',
  ])
    assert.equal(parse(text), null, text)
})

test('a name may stand in several objects, and as a value', () => {
  for (const text of [
    '{"a":{"a":{"a":"a"}}}',
    '{"a":[{"a":1},{"a":2}],"b":"a"}',
    '{"a":"b","b":"a"}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a":["b","b"],"b":1}',
  ])
    assert.deepEqual(parse(text), JSON.parse(text), text)
})

test('values other than objects, invalid JSON and invalid UTF-8 are refused', () => {
  for (const text of [
    '',
    'null',
    '1',
    '"a"',
    '[]',
    '{',
    '{}x',
    "{'a':1}",
    '{"a":1,}',
    '{"a":NaN}',
    '\u{feff}{}',
  ])
    assert.equal(parse(text), null, text)
  for (const bytes of [
    [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d],
    [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
    [0xff, 0xfe],
  ])
    assert.equal(parseStrictObject(Uint8Array.from(bytes)), null)
})

test('nesting is limited, and time is linear', () => {
  const nested = (depth: number): string => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  assert.notEqual(parse(nested(31)), null)
  assert.equal(parse(nested(32)), null)
  assert.equal(parse(nested(500_000)), null)
  assert.equal(parse(`{"a":"${'\\\\'.repeat(500_000)}"`), null)
  assert.notEqual(parse(`{"a":"${'\\\\'.repeat(500_000)}"}`), null)
  const names = Array.from({ length: 50_000 }, (_, i) => `"${i}":0`).join(',')
  assert.notEqual(parse(`{${names}}`), null)
})

test('members are those of the text, not those of its prototype', () => {
  const object = parseStrictObject(Buffer.from('{"__proto__":{"alg":"none"}}'))!
  assert.equal(memberOf(object, 'alg'), undefined)
  assert.equal(memberOf(object, 'toString'), undefined)
  assert.deepEqual(memberOf(object, '__proto__'), { alg: 'none' })
})
