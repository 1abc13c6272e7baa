import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptQueue, type Queued } from './attempt-queue.js'

interface Caller extends Queued {
  readonly name: string
}

function callers(names: string): Caller[] {
  return [...names].map((name) => ({
    name,
    isQueued: false,
    waitingSince: 0,
    queueNext: null,
    queuePrevious: null,
  }))
}

/** Removes all of them, and names them in order. */
function drained(queue: AttemptQueue<Caller>): string {
  let names = ''
  for (let first = queue.first; first !== null; first = queue.first) {
    names += first.name
    queue.delete(first)
  }
  return names
}

test('attempts leave in order, and abandoned ones from any position', () => {
  const all = callers('abcde')
  const queue = new AttemptQueue<Caller>(60_000, () => assert.fail('nobody waits for so long'))
  for (const leaving of ['', 'a', 'c', 'e', 'ab', 'ed', 'bd', 'cae']) {
    for (const caller of all) queue.add(caller)
    for (const name of leaving) queue.delete(all.find((caller) => caller.name === name)!)
    assert.equal(queue.size, 5 - leaving.length)
    assert.equal(drained(queue), [...'abcde'].filter((name) => !leaving.includes(name)).join(''))
    assert.equal(queue.size, 0)
  }
})

test('deleting an attempt that is not queued does nothing, and a removed one is not referenced', () => {
  const [a, b, c] = callers('abc') as [Caller, Caller, Caller]
  const queue = new AttemptQueue<Caller>(60_000, () => assert.fail('nobody waits for so long'))
  queue.add(a)
  queue.add(b)
  queue.delete(c)
  queue.delete(a)
  queue.delete(a)
  assert.deepEqual(
    [queue.size, queue.first, a.queueNext, a.queuePrevious, b.queuePrevious],
    [1, b, null, null, null],
  )
  queue.add(a)
  assert.equal(drained(queue), 'ba')
})
