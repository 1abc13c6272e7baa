import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeNameValue, nameKey, parseDistinguishedName } from './distinguished-name.js'

test('spellings of one name have one key', () => {
  const spellings: readonly (readonly string[])[] = [
    ['CN=a,O=b', 'cn=a,o=b', 'CN=a, O=b', ' CN = a , O = b '],
    ['CN=a\\, b', 'CN=a\\2c b', 'CN=a\\2C\\20b'],
    ['CN=\\C3\\A9', 'CN=é'],
    ['CN=a+OU=b', 'OU=b + CN=a'],
    ['CN=a\\ ', 'CN=a\\20'],
    ['1.2.840=#0402aB', '1.2.840=#0402ab'],
  ]
  for (const [first, ...others] of spellings) {
    assert.notEqual(nameKey(first!), null, first)
    for (const other of others) assert.equal(nameKey(other), nameKey(first!), other)
  }
})

test('different names have different keys', () => {
  const names = [
    'CN=a',
    'CN=A',
    'CN=a ,O=b',
    'O=b,CN=a',
    'CN=a+O=b',
    'CN=a\\,O=b',
    'CN=a\\ ',
    'CN=a,O=b\\ ',
    '',
  ]
  const keys = names.map(nameKey)
  assert.ok(!keys.includes(null))
  assert.equal(new Set(keys).size, names.length)
})

test('invalid names are refused', () => {
  const texts = [
    'a',
    'CN',
    '=a',
    'CN=a,',
    ',CN=a',
    'CN="a"',
    'CN=a;O=b',
    'CN=a\\',
    'CN=a\\q',
    'CN=\\ff',
    'CN=a,,O=b',
  ]
  for (const text of [...texts, `CN=${'a'.repeat(5000)}`, Array(101).fill('CN=a').join()])
    assert.equal(parseDistinguishedName(text), null, text.slice(0, 20))
})

test('an escaped value stays one value, whatever stands in it', () => {
  const values = [
    'a',
    'a,O=admin',
    ' a ',
    '#a',
    'a"b',
    'a\\',
    'a+b',
    'a<b>;',
    'a\nb',
    'a\0b',
    'é\u{1f600}',
    'a=b',
    ' ',
    '\u007f',
  ]
  for (const value of values) {
    const text = `uid=${escapeNameValue(value)},ou=people`
    assert.deepEqual(parseDistinguishedName(text)?.[0], [{ type: 'UID', value }], text)
    assert.equal(parseDistinguishedName(text)?.length, 2, text)
    assert.doesNotMatch(text, /[\u0000-\u001f]/)
  }
})
