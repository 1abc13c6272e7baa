import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { parseDictionary, parseItem, parseList } from './parser.js'
import { reserialized, serializeDictionary, serializeItem } from './serializer.js'

test('fields are serialized in the canonical form of RFC 9651', () => {
  const dictionaries: [string, string][] = [
    ['', ''],
    ['a=1,b=2', 'a=1, b=2'],
    ['a=?1;x=?1;y=?0,  b ;z', 'a;x;y=?0, b'],
    ['a=(1   "b"  tok );q=0.5', 'a=(1 "b" tok);q=0.5'],
    ['a=:AAE=:, *k=@-12', 'a=:AAE=:, *k=@-12'],
    ['a="q\\"\\\\"', 'a="q\\"\\\\"'],
    [' a=1 ', 'a=1'],
    ['a=1\t,\tb=007', 'a=1, b=7'],
    ['a=1.0, b=-1.500', 'a=1.0, b=-1.5'],
  ]
  for (const [text, expected] of dictionaries) {
    if (text.includes(' ;z')) assert.equal(reserialized(text, 'dictionary'), null)
    else assert.equal(reserialized(text, 'dictionary'), expected, text)
  }
  assert.equal(reserialized('a,  (b c);d, 1', 'list'), 'a, (b c);d, 1')
  assert.equal(reserialized('tok/en:*;a="b"', 'item'), 'tok/en:*;a="b"')
})

test('invalid structured fields are refused', () => {
  const dictionaries = [
    'A=1',
    'a=',
    'a==1',
    'a=1,',
    ',a=1',
    'a=1 b=2',
    'a=1;',
    'a=1;A',
    'a=(1',
    'a=1)',
    'a=(1,2)',
    'a=("b""c")',
    'a="b',
    "a='b'",
    'a="\u00e9"',
    'a="\n"',
    'a=:AA:',
    'a=:AB==:',
    'a=:A-_=:',
    'a=:AA==',
    'a=?2',
    'a=1.',
    'a=.5',
    'a=1234567890123456',
    'a=1234567890123.5',
    'a=1.2345',
    'a=--1',
    'a=-',
    'a=@1.5',
    'a=%"x"',
    'a=1\t',
    '\ta=1',
    'a=1, a=2',
    'a=1;b;b',
    'a=1\n',
  ]
  for (const text of dictionaries) assert.equal(parseDictionary(text), null, JSON.stringify(text))
  for (const text of ['', '1, 2', '(1)', '"a', '1;a=']) assert.equal(parseItem(text), null, text)
  for (const text of [',', '1,', '1 2', '(1', '((1))']) assert.equal(parseList(text), null, text)
})

test('serialized fields parse to the same value', () => {
  const bytes = fc
    .uint8Array({ maxLength: 20 })
    .map((value) => ({ type: 'bytes' as const, value: Buffer.from(value) }))
  const text = fc
    .string({ maxLength: 20 })
    .map((value) => ({ type: 'string' as const, value: value.replaceAll(/[^ -~]/g, '') }))
  const integer = fc.integer().map((value) => ({ type: 'integer' as const, value }))
  const bare = fc.oneof(bytes, text, integer)
  const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,8}$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(key, bare), { maxLength: 5 }), bare, (parameters, item) => {
      const written = { item, parameters: new Map(parameters) }
      assert.deepEqual(parseItem(serializeItem(written)), written)
      const dictionary = new Map([['k', written]])
      assert.deepEqual(parseDictionary(serializeDictionary(dictionary)), dictionary)
    }),
  )
})

test('no text of any shape takes long or throws', () => {
  const beforeMs = cpuMs()
  for (const piece of ['(', '"\\', 'a=1;', 'a,', ' ', ':A', 'a=((', '1', 'a="', ';a', 'a=1 ,\t']) {
    const text = piece.repeat(16_384 / piece.length)
    parseDictionary(text)
    parseList(text)
    parseItem(text)
  }
  assert.ok(cpuMs() - beforeMs < 10_000)
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      for (const shape of ['dictionary', 'list', 'item'] as const) {
        const once = reserialized(text, shape)
        if (once !== null) assert.equal(reserialized(once, shape), once)
      }
    }),
  )
})
