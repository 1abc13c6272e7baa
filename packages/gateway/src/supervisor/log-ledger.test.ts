import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG, type LogIdentity } from '@sluice/core'
import { LogLedger } from './log-ledger.js'

function isWhole(log: LogIdentity): boolean {
  return log.received === log.indexed + log.dead + log.dropped + log.onDisk + log.inMemory
}

test('the identity holds over living and ended workers, with what an ended one held counted as dropped', () => {
  const ledger = new LogLedger()
  ledger.depart({ ...EMPTY_LOG, received: 10, indexed: 6, dropped: 1, droppedBy: { full: 1 }, inMemory: 3 })
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

test('a worker that held nothing leaves no reason behind', () => {
  const ledger = new LogLedger()
  ledger.depart({ ...EMPTY_LOG, received: 2, indexed: 2 })
  assert.deepEqual(ledger.total([]).droppedBy, {})
})

test('what an ended worker has left in a spool is counted by whoever takes it over, and by nobody twice', () => {
  const ledger = new LogLedger()
  ledger.depart({ ...EMPTY_LOG, received: 10, indexed: 4, onDisk: 5, inMemory: 1, inherited: 6 })
  const heir = {
    ...EMPTY_LOG,
    received: 6,
    onDisk: 5,
    dropped: 1,
    droppedBy: { process_lost: 1 },
    inherited: 5,
  }
  const total = ledger.total([heir])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk, total.dropped], [10, 4, 5, 1])
})

test('dead letters that had to go stay counted when their worker has ended, and are part of no sum', () => {
  const ledger = new LogLedger()
  ledger.depart({ ...EMPTY_LOG, received: 4, dead: 4, deadRemoved: 3 })
  const total = ledger.total([{ ...EMPTY_LOG, received: 1, dead: 1, deadRemoved: 7 }])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.dead, total.deadRemoved], [5, 10])
})
