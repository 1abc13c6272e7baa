import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG, type LogIdentity, type Takeover } from '@sluice/core'
import { LogLedger } from './log-ledger.js'

function isWhole(log: LogIdentity): boolean {
  return log.received === log.indexed + log.dead + log.dropped + log.onDisk + log.inMemory
}

test('the counts add up over living and exited workers, with records held by an exited one counted as dropped', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 10, indexed: 6, dropped: 1, droppedBy: { full: 1 }, inMemory: 3 })
  const total = ledger.total([{ ...EMPTY_LOG, received: 5, indexed: 4, inMemory: 1 }])
  assert.equal(isWhole(total), true)
  assert.deepEqual(total, {
    ...EMPTY_LOG,
    received: 15,
    indexed: 10,
    dropped: 4,
    droppedBy: { full: 1, worker: 3 },
    inMemory: 1,
  })
})

test('a worker without records adds no drop reason', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 2, indexed: 2 })
  assert.deepEqual(ledger.total([]).droppedBy, {})
})

/** A worker that owns a part of a spool. */
function worker(
  owner: string,
  counts: Partial<LogIdentity>,
  takeovers: readonly Takeover[] = [],
): LogIdentity {
  const log = { ...EMPTY_LOG, ...counts }
  const had = log.onDisk + log.inMemory
  return { ...log, spools: { left: had === 0 ? {} : { [owner]: had }, takeovers } }
}

test('records left in a spool count as on disk until another worker takes them over', () => {
  const ledger = new LogLedger()
  ledger.retire(worker('a', { received: 10, indexed: 4, onDisk: 5, inMemory: 1 }))
  const between = ledger.total([worker('b', { received: 3, indexed: 3 })])
  assert.equal(isWhole(between), true)
  assert.deepEqual([between.received, between.indexed, between.onDisk, between.dropped], [13, 7, 6, 0])
  const adopter = worker(
    'b',
    { received: 3 + 6, indexed: 3, onDisk: 5, dropped: 1, droppedBy: { process_lost: 1 } },
    [{ made: 'a', from: 'a', by: 'b', records: 6 }],
  )
  const total = ledger.total([adopter])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk, total.dropped], [13, 7, 5, 1])
  assert.equal(total.spools, undefined)
})

test('records after the last heartbeat of an exited worker are counted when its spool is taken over', () => {
  const ledger = new LogLedger()
  ledger.retire(worker('a', { received: 10, indexed: 4, onDisk: 6 }))
  ledger.retire(worker('b', { received: 2, indexed: 1, onDisk: 1 }))
  const adopter = worker('c', { received: 1 + 4, onDisk: 5 }, [
    { made: 'a', from: 'a', by: 'c', records: 1 },
    { made: 'b', from: 'b', by: 'c', records: 4 },
  ])
  const total = ledger.total([adopter])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk], [15, 10, 5])
})

test('spool records pass from worker to worker, even if one exited without reporting', () => {
  const ledger = new LogLedger()
  ledger.retire(worker('a', { received: 5, onDisk: 5 }))
  // b took them over and was killed before its first heartbeat.
  const toC = { made: 'a', from: 'b', by: 'c', records: 5 }
  assert.equal(ledger.total([worker('c', { received: 5, onDisk: 5 }, [toC])]).received, 5)
  ledger.retire(worker('c', { received: 5, onDisk: 5 }, [toC]))
  const toD = { made: 'a', from: 'c', by: 'd', records: 5 }
  const total = ledger.total([worker('d', { received: 5, indexed: 2, onDisk: 3 }, [toD])])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk], [5, 2, 3])
})

test("a target that takes over another's spool counts its records, and no count goes backwards", () => {
  const ledger = new LogLedger()
  const old = worker('a', { received: 5, indexed: 2, onDisk: 3 })
  ledger.retire({ ...old, targets: { siem: old } })
  const taken = worker('b', { received: 3, onDisk: 3 }, [{ made: 'a', from: 'a', by: 'b', records: 3 }])
  const { targets, ...total } = ledger.total([{ ...taken, targets: { audit: taken } }])
  assert.equal(isWhole(total), true)
  assert.deepEqual([targets!['siem']!.received, targets!['siem']!.onDisk], [5, 0])
  assert.deepEqual([targets!['audit']!.received, targets!['audit']!.onDisk], [3, 3])
})

test('removed dead letters stay counted after their worker exits, outside the sum', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 4, dead: 4, deadRemoved: 3 })
  const total = ledger.total([{ ...EMPTY_LOG, received: 1, dead: 1, deadRemoved: 7 }])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.dead, total.deadRemoved], [5, 10])
})
