import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, type Queueable } from './fair-queue.js'

interface Entry extends Queueable {
  readonly name: string
}

function queueOf(...entries: readonly (readonly [string, number])[]): FairQueue<Entry> {
  const queue = new FairQueue<Entry>()
  for (const [name, key] of entries) queue.add({ name, nextInLane: null }, key)
  return queue
}

function takeAll(queue: FairQueue<Entry>): string {
  let names = ''
  for (let next = queue.take(); next !== null; next = queue.take()) names += next.name
  return names
}

test('keys take turns, and the entries of one key keep their order', () => {
  const queue = queueOf(['a', 1], ['b', 1], ['c', 1], ['d', 1], ['x', 2], ['y', 2], ['-', -3])
  assert.equal(queue.size, 7)
  assert.equal(takeAll(queue), 'ax-bycd')
  assert.equal(queue.size, 0)
  assert.equal(queue.take(), null)
})

test('a key that returns joins behind the others', () => {
  const queue = queueOf(['a', 1], ['b', 2], ['c', 2])
  assert.equal(queue.take()?.name, 'a')
  queue.add({ name: 'd', nextInLane: null }, 1)
  assert.equal(takeAll(queue), 'bdc')
  queue.add({ name: 'e', nextInLane: null }, 1)
  assert.equal(takeAll(queue), 'e')
})

test('a key is busy if its lane has at least half of the average length', () => {
  const queue = queueOf(...Array.from({ length: 9 }, (): [string, number] => ['a', 1]), ['b', 2])
  assert.deepEqual([queue.isBusy(1), queue.isBusy(2), queue.isBusy(3)], [true, false, false])
  for (const name of ['c', 'd']) queue.add({ name, nextInLane: null }, 2)
  assert.equal(queue.isBusy(2), true)
  assert.equal(queueOf().isBusy(1), true)
})
