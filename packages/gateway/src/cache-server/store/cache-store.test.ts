import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import type { WriterData } from '../testing/store-writer.js'
import { CacheStore, createStoreMemory } from './cache-store.js'
import { FoundEntry } from './entry.js'
import { keyHash } from './key-hash.js'

const NEVER = Number.POSITIVE_INFINITY
const found = new FoundEntry(2 ** 20)

function put(
  store: CacheStore,
  key: string,
  value: Uint8Array,
  rest: { at?: number; tags?: string } = {},
): number {
  return store.write(
    { key, type: 'a/b', tags: rest.tags ?? '', value, expiresAt: rest.at ?? NEVER },
    0,
    false,
  )
}

function read(store: CacheStore, key: string, nowMs = 0): Buffer | null {
  return store.read(key, nowMs, found) ? Buffer.from(found.value) : null
}

test('a key always has its last value or none, and the counts are correct', () => {
  const step = fc.record({
    kind: fc.constantFrom('put', 'put', 'put', 'remove', 'read'),
    key: fc.integer({ min: 0, max: 40 }),
    bytes: fc.integer({ min: 0, max: 8000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const store = new CacheStore(createStoreMemory(128 * 1024))
      const written = new Map<string, Buffer>()
      for (const [i, { kind, key, bytes }] of steps.entries()) {
        const name = `s/${key}`
        if (kind === 'put') {
          written.set(name, Buffer.alloc(bytes, i))
          put(store, name, written.get(name)!)
          assert.deepEqual(read(store, name), written.get(name), 'what was just written is there')
        } else if (kind === 'remove') {
          store.remove(name, 0)
          written.delete(name)
        }
        const value = read(store, name)
        if (value !== null) assert.deepEqual(value, written.get(name))
      }
      const present = [...Array(41).keys()].filter((key) => read(store, `s/${key}`) !== null)
      const { entries, bytes } = store.counts()
      assert.equal(entries, present.length)
      assert.ok(bytes <= 128 * 1024)
    }),
    { numRuns: 40 },
  )
})

test('a full store keeps entries that are read and evicts others', () => {
  const store = new CacheStore(createStoreMemory(1024 ** 2))
  const value = Buffer.alloc(1000)
  for (const name of ['s/hot', 's/cold']) put(store, name, value)
  for (let i = 0; i < 5000; i++) {
    put(store, `s/${i}`, value)
    read(store, 's/hot')
  }
  assert.notEqual(read(store, 's/hot'), null)
  assert.equal(read(store, 's/cold'), null)
  assert.ok(store.counts().evicted > 3000)
})

test('entries expire, survive conditional writes, and have their own versions', () => {
  const store = new CacheStore(createStoreMemory(1024 ** 2))
  const value = Buffer.from('v')
  const first = put(store, 's/a', value, { at: 100 })
  assert.notEqual(read(store, 's/a', 99), null)
  const entry = { key: 's/a', type: '', tags: '', value, expiresAt: NEVER }
  assert.equal(store.write(entry, 99, true), 0)
  assert.equal(read(store, 's/a', 100), null)
  assert.ok(store.write(entry, 100, true) > first)
  assert.equal(store.counts().expired, 1)
})

test('a purge removes entries with its prefix and its exact tag', async () => {
  const store = new CacheStore(createStoreMemory(64 * 1024 ** 2))
  const value = Buffer.alloc(10)
  for (let i = 0; i < 2000; i++)
    put(store, `s/${i}`, value, { tags: i % 2 === 0 ? ' even n ' : ' uneven n ' })
  put(store, 's2/1', value, { tags: ' even ' })
  assert.equal(await store.purge({ prefix: 's/', tag: ' even ' }), 1000)
  assert.equal(read(store, 's/2'), null)
  assert.notEqual(read(store, 's/1'), null)
  assert.equal(await store.purge({ prefix: 's/', tag: '' }), 1000)
  assert.notEqual(read(store, 's2/1'), null)
})

test('a value too large for a shard is refused, and many keys stay within the memory', () => {
  const store = new CacheStore(createStoreMemory(8 * 1024 ** 2))
  assert.throws(() => put(store, 's/a', Buffer.alloc(2 * 1024 ** 2)), RangeError)
  const value = Buffer.alloc(16)
  for (let i = 0; i < 100_000; i++) put(store, `s/key-${i}`, value)
  const { entries, bytes, evicted } = store.counts()
  assert.ok(bytes <= 8 * 1024 ** 2)
  assert.equal(entries + evicted, 100_000)
})

test('threads that write the same keys never see partial values', async () => {
  const memory = createStoreMemory(512 * 1024)
  const threads = [1, 2].map(async (seed) => {
    const workerData: WriterData = { memory, rounds: 10_000, seed }
    const worker = new Worker(new URL('../testing/store-writer.js', import.meta.url), { workerData })
    const [{ torn, hits }] = (await once(worker, 'message')) as [{ torn: number; hits: number }]
    assert.equal(torn, 0)
    assert.ok(hits > 100)
  })
  await Promise.all(threads)
  assert.ok(new CacheStore(memory).counts().entries <= 50)
})

test('the hash depends on its secret and on every byte', () => {
  const text = 's/\u0000key-\u00ff12'
  const hash = keyHash(text, 1, 2)
  assert.notEqual(keyHash(text, 1, 3), hash)
  const others = [...text].map((_, i) => text.slice(0, i) + '\u0001' + text.slice(i + 1))
  for (const other of [...others, `${text}\u0000`, text.slice(1)]) assert.notEqual(keyHash(other, 1, 2), hash)
})
