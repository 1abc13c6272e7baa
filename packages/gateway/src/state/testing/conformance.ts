import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type LimitRule, MAX_STATE_VALUE_BYTES, type StateStore } from '@sluice/core'
import { until } from '../../testing/gateway.js'

/** Long enough that no token is refilled during a test. */
const HOUR_MS = 3_600_000
/** Longer than any test. */
const LONG_MS = 600_000

const bytes = (text: string): Uint8Array => Buffer.from(text)
const rule = (overrides: Partial<LimitRule> = {}): LimitRule => ({
  algorithm: 'gcra',
  limit: 10,
  periodMs: HOUR_MS,
  burst: 10,
  ...overrides,
})

type Conforms = (what: string, check: (store: StateStore) => Promise<void>) => void

/**
 * Tests that a store conforms to the interface.
 * @param make returns a store that no other test uses.
 */
export function testConformance(name: string, make: (t: TestContext) => Promise<StateStore>): void {
  const conforms: Conforms = (what, check) => {
    test(`${name}: ${what}`, async (t) => check(await make(t)))
  }
  testValues(conforms)
  for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) testLimits(conforms, algorithm)
  testRules(conforms)
  testKeys(conforms)
}

function testValues(conforms: Conforms): void {
  conforms('a value exists until it expires, is replaced or deleted', async (store) => {
    assert.equal(await store.get('v'), null)
    assert.equal(await store.set('v', bytes('a'), LONG_MS), true)
    assert.deepEqual(Buffer.from((await store.get('v'))!), bytes('a'))
    assert.equal(await store.set('v', bytes('b'), LONG_MS, 'absent'), false)
    assert.equal(await store.set('v', bytes('c'), LONG_MS), true)
    assert.deepEqual(Buffer.from((await store.get('v'))!), bytes('c'))
    assert.equal(await store.delete('v'), true)
    assert.equal(await store.delete('v'), false)
    assert.equal(await store.set('v', bytes('d'), 1, 'absent'), true)
    await until(async () => (await store.get('v')) === null)
    assert.equal(await store.set('v', bytes('e'), LONG_MS, 'absent'), true)
  })

  conforms('a value is any bytes up to the limit, and is copied', async (store) => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    await store.set('all', all, LONG_MS)
    const stored = Buffer.from(all)
    all.fill(0)
    assert.deepEqual(Buffer.from((await store.get('all'))!), stored)
    await store.set('none', new Uint8Array(0), LONG_MS)
    assert.equal((await store.get('none'))!.length, 0)
    await store.set('much', new Uint8Array(MAX_STATE_VALUE_BYTES), LONG_MS)
    assert.equal((await store.get('much'))!.length, MAX_STATE_VALUE_BYTES)
    const tooMuch = new Uint8Array(MAX_STATE_VALUE_BYTES + 1)
    await assert.rejects(store.set('more', tooMuch, LONG_MS), RangeError)
  })

  conforms('a counter adds up, and its lifetime starts with the first addition', async (store) => {
    assert.equal(await store.add('c', 0, LONG_MS), 0)
    assert.equal(await store.add('c', 2, LONG_MS), 2)
    assert.deepEqual(await Promise.all([store.add('c', 3, 1), store.add('c', -1, 1)]), [5, 4])
    assert.equal(await store.add('c', 0, 1), 4)
    await store.add('brief', 1, 20)
    await until(async () => (await store.add('brief', 0, LONG_MS)) === 0)
  })
}

function testLimits(conforms: Conforms, algorithm: LimitRule['algorithm']): void {
  conforms(`${algorithm}: concurrent calls never get more tokens than available`, async (store) => {
    const limit = rule({ algorithm })
    const grants = await Promise.all(Array.from({ length: 30 }, () => store.take('l', limit, 1)))
    assert.equal(grants.filter(({ granted }) => granted === 1).length, 10)
    const last = await store.take('l', limit, 5)
    assert.equal(last.granted, 0)
    assert.equal(last.remaining, 0)
    assert.ok(last.retryAfterMs > 0 && last.retryAfterMs <= 2 * HOUR_MS)
    assert.ok(last.resetMs > 0 && last.resetMs <= HOUR_MS)
  })

  conforms(`${algorithm}: partial grants, returned tokens, and 0 to only read`, async (store) => {
    const limit = rule({ algorithm })
    assert.equal((await store.take('l', limit, 0)).remaining, 10)
    assert.equal((await store.take('l', limit, 7)).remaining, 3)
    const part = await store.take('l', limit, 7)
    assert.deepEqual([part.granted, part.remaining], [3, 0])
    await store.giveBack('l', limit, 4)
    assert.equal((await store.take('l', limit, 0)).remaining, 4)
    await store.giveBack('l', limit, 1000)
    assert.equal((await store.take('l', limit, 1000)).granted, 10)
    await store.giveBack('unknown', limit, 5)
    assert.equal((await store.take('unknown', limit, 1000)).granted, 10)
    assert.equal(await store.delete('l'), true)
    assert.equal((await store.take('l', limit, 0)).remaining, 10)
  })

  conforms(`${algorithm}: tokens are refilled`, async (store) => {
    const limit = rule({ algorithm, limit: 2, periodMs: 50, burst: 2 })
    await store.take('l', limit, 2)
    await until(async () => (await store.take('l', limit, 0)).remaining === 2)
  })
}

function testRules(conforms: Conforms): void {
  conforms('fixed: windows begin at the anchor of the rule', async (store) => {
    const anchorMs = Date.now() - 10_000
    const limit = rule({ algorithm: 'fixed', periodMs: 3 * HOUR_MS, anchorMs })
    const { resetMs } = await store.take('l', limit, 1)
    assert.ok(resetMs > 3 * HOUR_MS - 10_000 - LONG_MS && resetMs <= 3 * HOUR_MS - 10_000)
  })

  conforms('gcra: after a stricter rule the limit is blocked at most for its burst', async (store) => {
    await store.take('l', rule({ limit: 1, burst: 1000 }), 1000)
    const { resetMs } = await store.take('l', rule({ limit: 3600, burst: 10 }), 1)
    assert.ok(resetMs <= 10_000)
  })
}

function testKeys(conforms: Conforms): void {
  conforms('keys are any text, and long keys do not collide', async (store) => {
    const odd = ['', ' ', '\0', 'a\r\nb', '{x}:y', '*?[a]\\', 'ğ€😀', '\ud800', '\udfff', 'x'.repeat(200)]
    const long = ['a', 'b'].map((end) => 'k'.repeat(100_000) + end)
    const keys = [...odd, ...long]
    await Promise.all(keys.map((key, i) => store.set(key, bytes(String(i)), LONG_MS)))
    const values = await Promise.all(keys.map((key) => store.get(key)))
    assert.deepEqual(
      values.map((value) => Buffer.from(value ?? []).toString()),
      keys.map((_, i) => String(i)),
    )
  })

  conforms('keys are listed and deleted by prefix, and no others', async (store) => {
    for (const key of ['a*:1', 'a*:2', 'a*:3', 'ab:1', 'b']) await store.add(key, 1, LONG_MS)
    assert.deepEqual((await store.list('a*:', 10)).sort(), ['a*:1', 'a*:2', 'a*:3'])
    assert.equal((await store.list('a', 2)).length, 2)
    assert.deepEqual(await store.list('c', 2), [])
    assert.equal(await store.deleteAll('a*'), 3)
    assert.deepEqual((await store.list('', 10)).sort(), ['ab:1', 'b'])
  })
}
