import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import { sumOfLogs } from './log-identities.js'

test('counts are summed by target, and a log without targets counts as main', () => {
  const shipped = { ...EMPTY_LOG, received: 5, indexed: 2, onDisk: 3 }
  const written = { ...EMPTY_LOG, received: 2, indexed: 1, inMemory: 1 }
  const both = { ...sumOfLogs([shipped, written]), targets: { main: shipped, files: written } }
  const total = sumOfLogs([both, both, { ...EMPTY_LOG, received: 1, indexed: 1 }])
  assert.deepEqual(total, {
    ...{ ...EMPTY_LOG, received: 15, indexed: 7, onDisk: 6, inMemory: 2 },
    targets: {
      main: { ...EMPTY_LOG, received: 11, indexed: 5, onDisk: 6 },
      files: { ...EMPTY_LOG, received: 4, indexed: 2, inMemory: 2 },
    },
  })
})

test('targets may be named like object properties', () => {
  const one = { ...EMPTY_LOG, received: 1, indexed: 1 }
  for (const id of ['constructor', 'toString', 'valueOf', '__proto__']) {
    const log = { ...one, targets: Object.fromEntries([[id, one]]) }
    const sum = sumOfLogs([EMPTY_LOG, log, log])
    assert.equal(Object.entries(sum.targets!).find(([name]) => name === id)?.[1].received, 2)
  }
})
