import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHopByHop } from '@sluice/core'
import fc from 'fast-check'
import { takeFraming } from './response-fields.js'

function taken(...headers: string[]): { length: number; headers: string[] } {
  return { length: takeFraming(headers), headers }
}

test('the announced length is removed and returned', () => {
  assert.deepEqual(taken('a', '1', 'content-length', '42', 'b', '2'), {
    length: 42,
    headers: ['a', '1', 'b', '2'],
  })
  assert.deepEqual(taken('content-length', '0'), { length: 0, headers: [] })
  for (const value of ['', '-1', '5, 5', '1e3', '9'.repeat(16)])
    assert.deepEqual(taken('content-length', value), { length: -1, headers: [] })
  assert.deepEqual(taken(), { length: -1, headers: [] })
})

test('the listener frames and dates the response itself, and adds the request id', () => {
  const own = ['transfer-encoding', 'keep-alive', 'te', 'trailer', 'upgrade', 'date', 'x-request-id']
  assert.deepEqual(taken(...own.flatMap((name) => [name, 'x']), 'set-cookie', 'a').headers, [
    'set-cookie',
    'a',
  ])
})

test('fields that the upstream declares hop-by-hop are removed, at any position', () => {
  const { headers } = taken(
    'x-a',
    '1',
    'connection',
    'close, X-A',
    'x-b',
    '2',
    'connection',
    'x-c',
    'x-c',
    '3',
    'x-a',
    '4',
  )
  assert.deepEqual(headers, ['x-b', '2'])
  assert.deepEqual(taken('close', '1', 'connection', 'close').headers, ['close', '1'])
})

test('no connection field is left, and the others keep their order', () => {
  const name = fc.constantFrom(
    'a',
    'b',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'te',
    'content-length',
    'set-cookie',
  )
  const value = fc.constantFrom('a', 'b', 'close', 'keep-alive', '7', '')
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
      const nominated: string[] = pairs.filter(([field]) => field === 'connection').map(([, text]) => text)
      const expected = pairs.filter(
        ([field]) => !isHopByHop(field) && field !== 'content-length' && !nominated.includes(field),
      )
      assert.deepEqual(taken(...pairs.flat()).headers, expected.flat())
    }),
  )
})
