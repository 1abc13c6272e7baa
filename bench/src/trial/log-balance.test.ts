import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import { balanceLine } from './log-balance.js'

const identity = { ...EMPTY_LOG, received: 11, indexed: 7, dead: 3, dropped: 1 }
const count = { calls: 10, documents: 6, repeated: 0, letters: 3, identity }

test('calls that are documents, dead letters or told as dropped are in balance', () => {
  assert.equal(balanceLine(count), 'balance: 10 calls = 6 documents + 3 dead letters + 1 dropped, 0 repeated')
})

test('each way of losing a record, or of having it twice, breaks the balance', () => {
  const broken: readonly [Partial<typeof count>, RegExp][] = [
    [{ documents: 5 }, /\(1 are nowhere\)$/],
    [{ documents: 7 }, /\(1 too many\)$/],
    [{ repeated: 2 }, /\(2 repeated\)$/],
    [{ letters: 2 }, /\(2 of 3 dead letters are on disk\)$/],
    [{ identity: { ...identity, received: 12 } }, /\(the log's own account is wrong by 1\)$/],
  ]
  for (const [change, expected] of broken) assert.match(balanceLine({ ...count, ...change }), expected)
})
