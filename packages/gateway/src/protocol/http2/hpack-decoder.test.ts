import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HpackDecoder } from './hpack-decoder.js'

const LIMITS = { maxFields: 100, maxBytes: 10_000 }

test('decodes the examples of RFC 7541 appendix C.4: Huffman codes and a dynamic table', () => {
  const decoder = new HpackDecoder()
  const decode = (hex: string): string[] => {
    assert.equal(decoder.decode(Buffer.from(hex, 'hex'), LIMITS), true)
    return decoder.fields.slice(6)
  }
  const authority = [':authority', 'www.example.com']
  assert.deepEqual(decode('828684418cf1e3c2e5f23a6ba0ab90f4ff'), authority)
  assert.deepEqual(decode('828684be5886a8eb10649cbf'), [...authority, 'cache-control', 'no-cache'])
  assert.deepEqual(decode('828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'), [
    ...authority,
    'custom-key',
    'custom-value',
  ])
})

test('a table of size 0 forgets its entries', () => {
  const decoder = new HpackDecoder()
  assert.equal(decoder.decode(Buffer.from('4001610162', 'hex'), LIMITS), true)
  assert.equal(decoder.decode(Buffer.from('be', 'hex'), LIMITS), true)
  assert.deepEqual(decoder.fields, ['a', 'b'])
  assert.equal(decoder.decode(Buffer.from('20be', 'hex'), LIMITS), false)
})
