import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { StoredResponse } from './stored-response.js'
import { decodeVariants, encodeVariants } from './stored-text.js'

const STAMP = { token: 't', purges: 3 }
const OF = { key: 'k', uri: 'a/b' }

function stored(body: Buffer, value = 'v'): StoredResponse {
  return new StoredResponse({
    ...OF,
    ...{ status: 200, headers: ['etag', '"é"'], body, tags: ['t'], varyValues: [value], receivedAt: 5 },
    freshness: {
      ...{ lifetimeMs: 1, initialAgeMs: 2, staleIfErrorMs: 3, staleWhileRevalidateMs: 4 },
      ...{ isAlwaysValidated: false, mustRevalidate: true, vary: ['x-v'], unkept: [] },
    },
  })
}

test('variants come out as they went in, and the older ones are left out where there is no room', () => {
  const variants = [stored(Buffer.from('one'), '1'), stored(Buffer.alloc(0), '2')]
  const decoded = decodeVariants(encodeVariants(variants, STAMP)!, OF)
  assert.deepEqual(decoded, { stamp: STAMP, variants })
  const large = [stored(Buffer.alloc(600_000)), stored(Buffer.alloc(600_000))]
  assert.equal(decodeVariants(encodeVariants(large, STAMP)!, OF)!.variants.length, 1)
  assert.equal(encodeVariants([stored(Buffer.alloc(2_000_000))], STAMP), null)
})

test('bytes that are something else, or were changed, are nothing', () => {
  const whole = encodeVariants([stored(Buffer.from('body'))], STAMP)!
  for (let length = 0; length < whole.length; length++) {
    assert.equal(decodeVariants(whole.subarray(0, length), OF), null)
  }
  assert.equal(decodeVariants(Buffer.concat([whole, Buffer.from('x')]), OF), null)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => decodeVariants(bytes, OF) === null))
  for (const head of [
    'null',
    '[]',
    '{}',
    '{"stamp":{"token":"t"},"variants":[null]}',
    '{"stamp":{"token":"t"},"variants":[{"bytes":-1}]}',
  ]) {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(head.length)
    assert.equal(decodeVariants(Buffer.concat([length, Buffer.from(head)]), OF), null, head)
  }
})
