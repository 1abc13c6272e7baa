import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions } from './sessions.js'

test('sessions expire, and their number per owner is bounded', () => {
  let now = 0
  const sessions = new Sessions<string>(12 * 3_600_000, () => now)
  const first = sessions.open('ann', 'a')
  const other = sessions.open('bob', 'b')
  for (let i = 0; i < 32; i++) sessions.open('ann', 'a')
  assert.deepEqual([sessions.get(first), sessions.get(other)], [null, 'b'])
  now = 3_599_999
  assert.equal(sessions.get(other), 'b')
  now += 3_600_000
  assert.equal(sessions.get(other), null)
  const used = sessions.open('ann', 'a')
  const openedAt = now
  for (; now < openedAt + 12 * 3_600_000; now += 1_800_000) assert.equal(sessions.get(used), 'a')
  assert.equal(sessions.get(used), null)
})
