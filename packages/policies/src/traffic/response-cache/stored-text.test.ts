import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type StoredResponse, storedResponse } from './stored-response.js'
import { decodeVariants, encodeVariants } from './stored-text.js'

const STAMP = { token: 't', purges: 3 }
const OF = { key: 'k', uri: 'a/b' }

function stored(body: Buffer, value = 'v'): StoredResponse {
  return storedResponse({
    ...OF,
    ...{ status: 200, headers: ['etag', '"é"'], body, tags: ['t'], varyValues: [value], receivedAt: 5 },
    freshness: {
      ...{ lifetimeMs: 1, initialAgeMs: 2, staleIfErrorMs: 3, staleWhileRevalidateMs: 4 },
      ...{ isAlwaysValidated: false, mustRevalidate: true, vary: ['x-v'], unstored: [] },
    },
  })
}

test('variants survive a round trip, and the oldest are dropped if space is short', () => {
  const variants = [stored(Buffer.from('one'), '1'), stored(Buffer.alloc(0), '2')]
  const decoded = decodeVariants(encodeVariants(variants, STAMP)!, OF)
  assert.deepEqual(decoded, { stamp: STAMP, variants })
  const large = [stored(Buffer.alloc(600_000)), stored(Buffer.alloc(600_000))]
  assert.equal(decodeVariants(encodeVariants(large, STAMP)!, OF)!.variants.length, 1)
  assert.equal(encodeVariants([stored(Buffer.alloc(2_000_000))], STAMP), null)
})

test('other or modified bytes are rejected', () => {
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
    assert.equal(decodeVariants(Buffer.from(`${head}\n`), OF), null, head)
  }
})

test('a foreign entry cannot inject lines, framing or invalid times', () => {
  const whole = encodeVariants([stored(Buffer.from('body'))], STAMP)!
  const end = whole.indexOf('\n')
  const head = whole.toString('utf8', 0, end)
  const changed = (from: string, to: string) => {
    assert.ok(head.includes(from), from)
    return decodeVariants(Buffer.concat([Buffer.from(head.replace(from, to)), whole.subarray(end)]), OF)
  }
  assert.notEqual(changed('é', 'é x'), null)
  for (const [from, to] of [
    ['"\\"é\\""', '"a\\r\\nset-cookie: s=1"'],
    ['"\\"é\\""', '"a\\u010a"'],
    ['"\\"é\\""', '1'],
    ['"etag"', '"etag: a\\r\\nx"'],
    ['"etag"', '"ETag"'],
    ['"etag"', '"transfer-encoding"'],
    ['"etag"', '"content-length"'],
    ['"etag"', '"age"'],
    ['"etag"', '"x-request-id"'],
    ['"etag"', 'null'],
    ['"status":200', '"status":304'],
    ['"status":200', '"status":429'],
    ['"lifetimeMs":1', '"lifetimeMs":1e300'],
    ['"status":200', '"status":101'],
    ['"status":200', '"status":1e3'],
    ['"tags":["t"]', '"tags":[1]'],
    ['"tags":["t"]', '"tags":null'],
    ['"varyValues":["v"]', '"varyValues":[]'],
    ['"varyValues":["v"]', '"varyValues":[{}]'],
    ['"vary":["x-v"]', '"vary":[1]'],
    ['"unstored":[]', '"unstored":0'],
    ['"lifetimeMs":1', '"lifetimeMs":"1"'],
    ['"lifetimeMs":1', '"lifetimeMs":null'],
    ['"initialAgeMs":2', '"initialAgeMs":-2'],
    ['"mustRevalidate":true', '"mustRevalidate":0'],
    ['"receivedAt":5', '"receivedAt":"5"'],
    ['"purges":3', '"purges":"3"'],
    ['"purges":3', '"purges":-1e308'],
    ['"bytes":4', '"bytes":4.5'],
  ] as const)
    assert.equal(changed(from, to), null, to)
})
