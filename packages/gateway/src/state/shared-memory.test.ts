import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANSWERS_PREFIX, CACHED_PREFIX, USED_PREFIX } from '@sluice/core'
import { SharedMemory } from './shared-memory.js'

test('cached values evict only each other, never limits, quotas or single-use values', () => {
  const memory = new SharedMemory()
  const value = new Uint8Array(1)
  const keys = ['rate-limit:p:a', 'quota:p:a', `${USED_PREFIX}n`, `${CACHED_PREFIX}s:first`]
  for (const key of keys) memory.tableOf(key).set(key, value, 60_000)
  for (let i = 0; i < 100_000; i++) memory.tableOf(CACHED_PREFIX).set(`${CACHED_PREFIX}s:${i}`, value, 60_000)
  assert.deepEqual(
    keys.map((key) => memory.tableOf(key).get(key) !== null),
    [true, true, true, false],
  )
  assert.equal(memory.tableOf(`${ANSWERS_PREFIX}api-call:a:k`), memory.cached)
  assert.deepEqual([memory.evictions, memory.entries], [1, 100_003])
})
