import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LimitRule } from '../contract/state.js'
import { MemoryTable } from './memory-table.js'

/** Creates a table with a fake clock. */
function tableAt(startMs: number, bounds = { entries: 1000, bytes: 1_000_000 }) {
  const clock = { nowMs: startMs }
  return { clock, table: new MemoryTable(bounds, () => clock.nowMs) }
}

const RULES = (['gcra', 'fixed', 'sliding'] as const).map(
  (algorithm): LimitRule => ({ algorithm, limit: 10, periodMs: 1000, burst: 5 }),
)

for (const rule of RULES) {
  test(`${rule.algorithm}: never grants more tokens than allowed, and grants one after retryAfterMs`, () => {
    const step = fc.record({ waitMs: fc.nat(700), amount: fc.integer({ min: 1, max: 8 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, table } = tableAt(1_000_000)
        let granted = 0
        for (const { waitMs, amount } of steps) {
          clock.nowMs += waitMs
          const grant = table.take('k', rule, amount)
          granted += grant.granted
          const elapsedMs = clock.nowMs - 1_000_000
          // A window may be used up at its end, and the next one at its start.
          const most =
            rule.algorithm === 'gcra' ? 5 + elapsedMs / 100 : 10 * (Math.floor(elapsedMs / 1000) + 1)
          assert.ok(granted <= most + 1e-6, `${granted} of ${most}`)
          if (grant.granted < amount) {
            assert.ok(grant.retryAfterMs > 0)
            clock.nowMs += Math.ceil(grant.retryAfterMs)
            assert.ok(table.take('k', rule, 0).remaining >= 1)
          }
        }
      }),
    )
  })
}

test('sliding: tokens taken in the previous window count while they are within the period', () => {
  const { clock, table } = tableAt(999_000)
  const rule = RULES[2]!
  assert.equal(table.take('k', rule, 100).granted, 10)
  clock.nowMs = 1_000_500
  assert.equal(table.take('k', rule, 100).granted, 5)
  clock.nowMs = 1_003_000
  assert.equal(table.take('k', rule, 100).granted, 10)
})

test('a clock that is set back does not close a limit for longer than its maximum', () => {
  for (const rule of RULES) {
    const { clock, table } = tableAt(10_000_000)
    table.take('k', rule, 100)
    clock.nowMs = 1_000_000
    table.take('k', rule, 100)
    clock.nowMs += 2000
    assert.ok(table.take('k', rule, 1).granted === 1, rule.algorithm)
  }
})

test('expired entries are removed by later calls', () => {
  const { clock, table } = tableAt(0)
  for (let i = 0; i < 100; i++) table.set(`old ${i}`, new Uint8Array(10), 50)
  clock.nowMs = 100
  for (let i = 0; i < 60; i++) table.add('counter', 1, 1000)
  assert.equal(table.entries, 1)
  assert.equal(table.evictions, 0)
})

test('a full table evicts the least recently used entry, by number and by bytes', () => {
  const { table } = tableAt(0, { entries: 3, bytes: 10_000 })
  for (const key of ['a', 'b', 'c']) table.add(key, 1, 1000)
  table.add('a', 0, 1000)
  table.add('d', 1, 1000)
  assert.deepEqual(table.list('', 10).sort(), ['a', 'c', 'd'])
  table.set('large', new Uint8Array(9800), 1000)
  assert.deepEqual(table.list('', 10), ['large'])
  assert.equal(table.evictions, 4)
  table.deleteAll('')
  assert.equal(table.bytes, 0)
})

test('entries and bytes are counted correctly and stay within the limits', () => {
  const call = fc.record({
    kind: fc.constantFrom('set', 'add', 'take', 'giveBack', 'delete', 'wait'),
    key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n}`.repeat(n)),
    n: fc.nat(300),
  })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 200 }), (calls) => {
      const bounds = { entries: 8, bytes: 2000 }
      const { clock, table } = tableAt(0, bounds)
      for (const { kind, key, n } of calls) {
        const own = `${kind}:${key}`
        if (kind === 'set') table.set(own, new Uint8Array(n), 1 + n)
        else if (kind === 'add') table.add(own, n, 1 + n)
        else if (kind === 'take') table.take(own, RULES[n % 3]!, n)
        else if (kind === 'giveBack') table.giveBack(`take:${key}`, RULES[n % 3]!, n)
        else if (kind === 'delete') table.delete(`set:${key}`)
        else clock.nowMs += n
        assert.ok(table.entries <= bounds.entries && table.bytes <= bounds.bytes)
        assert.ok(table.bytes >= 96 * table.entries)
      }
      table.deleteAll('')
      assert.deepEqual([table.entries, table.bytes], [0, 0])
    }),
  )
})
