import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { joinJsonHead, splitJsonHead } from './json-head.js'

test('head and body survive a round trip, also inside a larger buffer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (text, body) => {
      const joined = Buffer.concat([Buffer.from('before'), joinJsonHead({ text }, body)]).subarray(6)
      const { head, body: rest } = splitJsonHead(joined)!
      assert.deepEqual([head, [...rest]], [{ text }, [...body]])
    }),
  )
})

test('other bytes have no head', () => {
  for (const text of ['', '\n', '{}', 'null\n', '[]\n', '1\n', '{"a":}\n', '{"a":1'])
    assert.equal(splitJsonHead(Buffer.from(text)), null, text)
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void splitJsonHead(bytes)))
})
