import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import { LogQueue, type WorkerCounts } from './log-watch.js'

function counts(changes: Partial<WorkerCounts>): WorkerCounts {
  return { ...EMPTY_LOG, id: 0, pid: 7, ...changes }
}

/** A queue that is looked at every second. */
function queue(...looks: readonly Partial<WorkerCounts>[]): LogQueue['seen'] {
  const watched = new LogQueue(counts(looks[0]!), 0)
  for (const [i, look] of looks.entries()) if (i > 0) watched.look(counts(look), i * 1000)
  return watched.seen
}

test('the lag is the age of the oldest record that waits, on a line between two looks', () => {
  const { queuedRecords, lagMicros, droppedRecords } = queue(
    { received: 1000, indexed: 1000 },
    { received: 2000, indexed: 1000, inMemory: 400, onDisk: 600 },
    { received: 3000, indexed: 1500, inMemory: 300, onDisk: 1200 },
    { received: 3000, indexed: 3000 },
  )
  // The 1,001st record of the second look was received a second before; the 1,501st of the third a second and a half.
  assert.deepEqual([queuedRecords, lagMicros, droppedRecords], [1500, 1_500_000, 0])
})

test('who delivers at once has no lag, however long it goes on', () => {
  const looks = Array.from({ length: 50 }, (_, i) => ({ received: i * 100, indexed: i * 90, dead: i * 10 }))
  assert.deepEqual(queue(...looks), { queuedRecords: 0, lagMicros: 0, droppedRecords: 0 })
})

test('a delivery that stands still lags by as long as it does', () => {
  const looks = Array.from({ length: 11 }, (_, i) => ({ received: i * 100, inMemory: i * 100 }))
  assert.deepEqual(queue(...looks), { queuedRecords: 1000, lagMicros: 10_000_000, droppedRecords: 0 })
})

test('records that were lost count from the first look, and wait no more', () => {
  const { droppedRecords, lagMicros } = queue(
    { received: 100, dropped: 100 },
    { received: 300, dropped: 250, indexed: 50 },
  )
  assert.deepEqual([droppedRecords, lagMicros], [150, 0])
})

test('a worker that was started anew has no older records than itself', () => {
  const { lagMicros } = queue(
    { received: 100, inMemory: 100 },
    { received: 200, inMemory: 200 },
    { pid: 8, received: 50, inMemory: 50 },
    { pid: 8, received: 150, inMemory: 150 },
  )
  assert.equal(lagMicros, 1_000_000)
})
