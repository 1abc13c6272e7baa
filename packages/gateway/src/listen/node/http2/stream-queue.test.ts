import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REFUSED_STREAMS, StreamQueue } from './stream-queue.js'

test('requests beyond 10 ms of a turn wait for the next turns, in order', async () => {
  let nowMs = 0
  const queue = new StreamQueue(() => nowMs)
  const done: number[] = []
  const take = (i: number): void => {
    nowMs += 4
    done.push(i)
  }
  for (let i = 0; i < 8; i++) {
    if (queue.begin()) {
      take(i)
      queue.end()
    } else queue.wait({ dispatch: () => take(i), refuse: () => assert.fail('refused') })
  }
  const perTurn = [done.length]
  while (done.length < 8) {
    const before = done.length
    await new Promise((resolve) => setImmediate(resolve))
    perTurn.push(done.length - before)
  }
  assert.deepEqual(perTurn, [3, 3, 2])
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7])
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(queue.begin(), 'nothing waits any more')
})

test('more than 1,000 waiting requests are refused and counted', () => {
  let nowMs = 0
  const queue = new StreamQueue(() => (nowMs += 100))
  queue.begin()
  queue.end()
  const before = REFUSED_STREAMS.count
  let refused = 0
  for (let i = 0; i < 1005; i++) {
    assert.equal(queue.begin(), false)
    queue.wait({ dispatch() {}, refuse: () => refused++ })
  }
  assert.deepEqual([refused, REFUSED_STREAMS.count - before], [5, 5])
})
