import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LimitRule, MAX_STATE_VALUE_BYTES, MemoryTable, StateSlow, StateUnavailable } from '@sluice/core'
import { until } from '../testing/gateway.js'
import { ChannelStore } from './channel-store.js'
import { answerCalls, type StateCall } from './state-calls.js'
import { testConformance } from './testing/conformance.js'

/** A supervisor that can be silent, and clones messages as a channel does. */
function supervised(timeoutMs = 4000, takeMs = timeoutMs) {
  const table = new MemoryTable()
  const messages: (readonly StateCall[])[] = []
  const supervisor = { isAnswering: true, isReading: true, isConnected: true, messages, late: () => {} }
  const store: ChannelStore = new ChannelStore(
    (id, calls, written) => {
      if (!supervisor.isConnected) return false
      messages.push(structuredClone(calls))
      if (supervisor.isReading) setImmediate(written)
      const answer = (): void =>
        store.onResults(id, structuredClone(answerCalls(() => table, structuredClone(calls))))
      if (supervisor.isAnswering) setImmediate(answer)
      else supervisor.late = answer
      return true
    },
    { takeMs, otherMs: timeoutMs },
  )
  return { store, supervisor }
}

testConformance('of the supervisor', async () => supervised().store)

test('the calls of one turn go in one message', async () => {
  const { store, supervisor } = supervised()
  const sums = await Promise.all(Array.from({ length: 900 }, () => store.add('c', 1, 1000)))
  assert.deepEqual([supervisor.messages.length, Math.max(...sums)], [1, 900])
})

test('the store is unavailable while the supervisor does not answer; late answers are ignored', async () => {
  const { store, supervisor } = supervised(20)
  supervisor.isAnswering = false
  await assert.rejects(store.add('c', 1, 1000), StateUnavailable)
  supervisor.late()
  supervisor.isAnswering = true
  assert.equal(await store.add('c', 1, 1000), 2)
  supervisor.isConnected = false
  await assert.rejects(store.add('c', 1, 1000), /the supervisor is not running/)
  supervisor.isConnected = true
  assert.equal(await store.add('c', 1, 1000), 3)
})

test('taking tokens waits for a slow supervisor, but not for one that is gone', async () => {
  const { store, supervisor } = supervised(20, 60_000)
  const rule: LimitRule = { algorithm: 'fixed', limit: 10, burst: 10, periodMs: 3_600_000, anchorMs: 0 }
  supervisor.isAnswering = false
  const take = store.take('c', rule, 4)
  await assert.rejects(store.get('k'), StateSlow)
  supervisor.late()
  assert.equal((await take).granted, 4)
  const other = store.take('c', rule, 4)
  await assert.rejects(store.get('k'), StateSlow)
  supervisor.isConnected = false
  store.close()
  await assert.rejects(
    other,
    (error) => !(error instanceof StateSlow) && /is not running/.test(String(error)),
  )
})

test('tokens granted too late are returned', async () => {
  const { store, supervisor } = supervised(20)
  const rule: LimitRule = { algorithm: 'fixed', limit: 10, burst: 10, periodMs: 3_600_000, anchorMs: 0 }
  supervisor.isAnswering = false
  await assert.rejects(store.take('c', rule, 4), StateUnavailable)
  supervisor.isAnswering = true
  supervisor.late()
  await until(async () => (await store.take('c', rule, 0)).remaining === 10)
})

test('a supervisor that does not read gets 16 messages, and waiting calls are bounded', async () => {
  const { store, supervisor } = supervised(200)
  supervisor.isAnswering = false
  supervisor.isReading = false
  const refused: unknown[] = []
  const count = (error: unknown): void => void refused.push(error)
  for (let i = 0; i < 10_001; i++) store.get('k').catch(count)
  // The call beyond the limit fails before any timer runs.
  for (let i = 0; i < 10; i++) await null
  assert.equal(refused.length, 1)
  await until(() => refused.length === 10_001)
  const large = new Uint8Array(MAX_STATE_VALUE_BYTES)
  for (let i = 0; i < 9; i++) store.set('k', large, 1000).catch(count)
  await until(() => refused.length === 10_010)
  for (let i = 0; i < 30; i++) {
    await assert.rejects(store.get('k'), StateUnavailable)
    if (supervisor.messages.length >= 16) break
  }
  assert.equal(supervisor.messages.length, 16)
  assert.ok(refused.every((error) => error instanceof StateUnavailable))
})

test('one message cannot make the supervisor buffer too many values', () => {
  const table = new MemoryTable()
  table.set('k', new Uint8Array(MAX_STATE_VALUE_BYTES), 300_000)
  const results = answerCalls(
    () => table,
    Array.from({ length: 100 }, () => ['get', 'k'] as const),
  )
  assert.equal(results.filter((result) => 'value' in result).length, 5)
})
