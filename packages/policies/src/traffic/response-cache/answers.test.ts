import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hitWith } from './answers.js'
import type { RequestFacts } from './request-facts.js'
import { storedResponse } from './stored-response.js'

const FACTS = { isConditional: false } as RequestFacts

test('the reply of a hit is reused until its age or remaining lifetime changes', () => {
  const stored = storedResponse({
    ...{ key: 'k', uri: 'a/b', status: 200, headers: ['x-a', '1'], body: Buffer.from('body'), tags: [] },
    ...{ varyValues: [], receivedAt: 0 },
    freshness: {
      ...{ lifetimeMs: 10_500, initialAgeMs: 0, staleIfErrorMs: 0, staleWhileRevalidateMs: 0 },
      ...{ isAlwaysValidated: false, mustRevalidate: false, vary: [], unstored: [] },
    },
  })
  const fields = (age: number, ttl: number) => [
    'x-a',
    '1',
    'age',
    String(age),
    'cache-status',
    `sluice; hit; ttl=${ttl}`,
  ]
  const first = hitWith(stored, FACTS, 0, true)
  assert.deepEqual([first.status, first.headers, first.body], [200, fields(0, 10), stored.body])
  assert.equal(hitWith(stored, FACTS, 499, true), first)
  assert.deepEqual(hitWith(stored, FACTS, 501, true).headers, fields(0, 9))
  assert.deepEqual(hitWith(stored, FACTS, 1000, true).headers, fields(1, 9))
  assert.deepEqual(hitWith(stored, FACTS, 12_000, true).headers, fields(12, -2))
})
