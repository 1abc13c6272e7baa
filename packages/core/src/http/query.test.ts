import assert from 'node:assert/strict'
import test from 'node:test'
import { bytewiseUrl, decodedForm, decodedUrl, formText, QueryCursor, queryValue } from './query.js'

test('a query is read pair by pair, as it is written', () => {
  for (const [text, pairs] of [
    ['', [['', '']]],
    [
      'a=1&b',
      [
        ['a', '1'],
        ['b', ''],
      ],
    ],
    [
      'a=1=2&&=3&',
      [
        ['a', '1=2'],
        ['', ''],
        ['', '3'],
        ['', ''],
      ],
    ],
    ['%61=+', [['%61', '+']]],
  ] as const) {
    const cursor = new QueryCursor()
    cursor.read(text)
    const read: [string, string][] = []
    while (cursor.advance()) read.push([cursor.rawName, cursor.rawValue])
    assert.deepEqual(read, pairs, text)
  }
})

test('the first value of a name counts, even if the name is escaped', () => {
  assert.equal(queryValue('a=1&a=2', 'a'), '1')
  assert.equal(queryValue('%61=x+y%21', 'a'), 'x y!')
  assert.equal(queryValue('ab=1&b', 'b'), '')
  assert.equal(queryValue('ab=1', 'a'), null)
  assert.equal(queryValue('', ''), null)
})

test('each decoder handles an invalid escape in its own way', () => {
  for (const text of ['%zz', '%ff', 'a%2']) {
    assert.equal(decodedUrl(text), null)
    assert.equal(decodedForm(text), null)
    assert.equal(formText(`+${text}`), `+${text}`)
  }
  assert.equal(decodedUrl('a+b%20c'), 'a+b c')
  assert.equal(decodedForm('a+b%20c'), 'a b c')
  assert.equal(bytewiseUrl('%ff%61%zz'), '\u00ffa%zz')
})
