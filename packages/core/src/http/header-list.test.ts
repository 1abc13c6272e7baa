import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  appendHeader,
  hasContentCoding,
  headerCount,
  headerJoined,
  headerValue,
  removeHeader,
  removeHeadersWithPrefix,
  setHeader,
} from './header-list.js'

const name = fc.constantFrom('a', 'b', 'x-a', 'x-b', 'x-')
/** Values look like names, to detect searches that also compare values. */
const value = fc.constantFrom('a', 'b', 'x-a', '', '1')
const lines = fc.array(fc.tuple(name, value), { maxLength: 8 })

function pairsOf(list: readonly string[]): [string, string][] {
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!])
}

test('a field is read by its first line, by all of them, and by their number', () => {
  fc.assert(
    fc.property(lines, name, (pairs, wanted) => {
      const list = pairs.flat()
      const values = pairs.filter(([field]) => field === wanted).map(([, text]) => text)
      assert.equal(headerValue(list, wanted), values[0] ?? null)
      assert.equal(headerJoined(list, wanted), values.length === 0 ? null : values.join(', '))
      assert.equal(headerCount(list, wanted), values.length)
    }),
  )
})

test('setting a field keeps one line at its first position and leaves other fields unchanged', () => {
  fc.assert(
    fc.property(lines, name, value, (pairs, wanted, text) => {
      const list = pairs.flat()
      setHeader(list, wanted, text)
      const first = pairs.findIndex(([field]) => field === wanted)
      const expected = pairs
        .map(([field, old], i) => [field, i === first ? text : old] as [string, string])
        .filter(([field], i) => field !== wanted || i === first)
      if (first === -1) expected.push([wanted, text])
      assert.deepEqual(pairsOf(list), expected)
    }),
  )
})

test('removing a field keeps the order of the others', () => {
  fc.assert(
    fc.property(lines, name, (pairs, wanted) => {
      const byName = pairs.flat()
      removeHeader(byName, wanted)
      assert.deepEqual(
        pairsOf(byName),
        pairs.filter(([field]) => field !== wanted),
      )
      const byPrefix = pairs.flat()
      removeHeadersWithPrefix(byPrefix, wanted)
      assert.deepEqual(
        pairsOf(byPrefix),
        pairs.filter(([field]) => !field.startsWith(wanted)),
      )
    }),
  )
})

test('appending adds a line and changes none', () => {
  const list = ['a', '1']
  appendHeader(list, 'a', '2')
  assert.deepEqual(list, ['a', '1', 'a', '2'])
})

test('a content coding other than identity is detected on any line', () => {
  for (const none of [[], ['content-encoding', ''], ['content-encoding', ' Identity ']]) {
    assert.equal(hasContentCoding(none), false)
  }
  assert.equal(hasContentCoding(['content-encoding', 'gzip']), true)
  assert.equal(hasContentCoding(['content-encoding', 'identity', 'content-encoding', 'br']), true)
})
