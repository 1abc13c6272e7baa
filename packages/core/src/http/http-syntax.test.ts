import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  contentLengthOf,
  isFieldValue,
  isHopByHop,
  isMessageLookalike,
  isToken,
  listHasToken,
  plainName,
  trimOws,
  trimOwsStart,
} from './http-syntax.js'

/** Arbitrary text, mostly from the edges of character classes: controls, separators, letters, non-ASCII. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x17f }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom('a', '9', '~', '\t', ' ', '\u007f', '\u0141', '\uff21'),
    ),
    { maxLength: 6 },
  )
  .map((units) => units.join(''))

test('tokens follow RFC 9110 section 5.6.2', () => {
  fc.assert(
    fc.property(anyText, (text) =>
      assert.equal(isToken(text), /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text), JSON.stringify(text)),
    ),
    { numRuns: 1000 },
  )
})

test('a field value is visible ASCII, spaces and tabs', () => {
  fc.assert(
    fc.property(anyText, (text) =>
      assert.equal(isFieldValue(text), /^[\t -~]*$/.test(text), JSON.stringify(text)),
    ),
    { numRuns: 1000 },
  )
})

test('a content length is up to 15 digits and nothing else', () => {
  for (const text of ['0', '00', '42', '9'.repeat(15)])
    assert.equal(contentLengthOf(text), Number(text), text)
  for (const text of ['', '+1', '-1', ' 1', '1 ', '1,1', '0x1', '1e3', '٣', '9'.repeat(16)])
    assert.equal(contentLengthOf(text), -1, text)
})

test('a token in a list matches regardless of case and spaces, but not as part of another', () => {
  const token = fc.constantFrom('close', 'keep-alive', 'clos', 'closer', 'x')
  const written = fc
    .tuple(fc.constantFrom('', ' ', '\t'), token, fc.boolean())
    .map(([space, word, isUpper]) => ({ word, text: space + (isUpper ? word.toUpperCase() : word) + space }))
  fc.assert(
    fc.property(fc.array(written), token, (words, wanted) => {
      const list = words.map(({ text }) => text).join(',')
      assert.equal(
        listHasToken(list, wanted),
        words.some(({ word }) => word === wanted),
      )
    }),
  )
  assert.equal(listHasToken(',, close,', 'close'), true)
  assert.equal(listHasToken('', 'close'), false)
})

test('only HTTP whitespace is trimmed', () => {
  const spaces = fc.array(fc.constantFrom(' ', '\t')).map((all) => all.join(''))
  fc.assert(
    fc.property(
      spaces,
      spaces,
      fc.constantFrom('', 'a', 'a b', '\xa0a\xa0', '\u0085', '\ufeffa'),
      (before, after, text) => {
        assert.equal(trimOws(before + text + after), text)
        assert.equal(trimOwsStart(before + text), text)
      },
    ),
  )
})

test('a plain name has hyphens for all characters that CGI cannot distinguish', () => {
  for (const name of ['x-user', 'x1-2', 'X-User']) assert.equal(plainName(name), name)
  for (const name of ['x_user', 'x.user', 'x!user', "x'user", 'x|user'])
    assert.equal(plainName(name), 'x-user')
  assert.equal(isMessageLookalike('transfer_encoding'), true)
  assert.equal(isMessageLookalike('transfer-encoding'), false)
})

test('hop-by-hop fields are recognized', () => {
  for (const name of ['connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'keep-alive'])
    assert.equal(isHopByHop(name), true, name)
  for (const name of ['host', 'content-length', 'authorization', 'cookie', 'x-te'])
    assert.equal(isHopByHop(name), false, name)
})
