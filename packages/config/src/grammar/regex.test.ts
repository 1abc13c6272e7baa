import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineRegex } from './regex.js'

test('what RE2 cannot compile, or is too long, is refused with a reason', () => {
  const refused = [
    '(',
    '[',
    '*a',
    'a{2,1}',
    '(?<a',
    'a'.repeat(1001),
    '(?=a)b',
    '(?<!a)b',
    '(a)\\1',
    'a{0,1000}{9}b{1500}',
  ]
  for (const source of refused) assert.notEqual(examineRegex(source), null, source)
})

test('the usual expressions of paths and fields are accepted', () => {
  for (const source of [
    '^/orders/\\d+$',
    '^(/[^/]+)+$',
    '(?<id>[\\w-]+)',
    '^\\/a\\/b',
    '\\bv[0-9]+\\b',
    '(a+)+$',
  ]) {
    assert.equal(examineRegex(source), null, source)
  }
})
