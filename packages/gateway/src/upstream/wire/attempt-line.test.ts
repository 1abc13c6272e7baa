import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttemptObserver, UpstreamRequest } from '../transport.js'
import { AttemptLine } from './attempt-line.js'
import { WireAttempt } from './wire-attempt.js'

const WAY = { head: '', isFresh: false, isPipelinable: false, owner: { onAbandoned: () => {} } }

function attempts(count: number): WireAttempt[] {
  const make = () => new WireAttempt({} as UpstreamRequest, {} as AttemptObserver, WAY)
  return Array.from({ length: count }, make)
}

/** Takes all of them out, in order. */
function drained(line: AttemptLine): WireAttempt[] {
  const all: WireAttempt[] = []
  for (let first = line.first; first !== null; first = line.first) {
    all.push(first)
    line.delete(first)
  }
  return all
}

test('who came first leaves first, and who is given up leaves from wherever it is', () => {
  const all = attempts(5)
  const [a, b, c, d, e] = all as [WireAttempt, WireAttempt, WireAttempt, WireAttempt, WireAttempt]
  const line = new AttemptLine()
  for (const leaving of [[], [a], [c], [e], [a, b], [e, d], [b, d], [c, a, e]]) {
    for (const attempt of all) line.add(attempt)
    for (const attempt of leaving) line.delete(attempt)
    assert.equal(line.size, 5 - leaving.length)
    assert.deepEqual(
      drained(line).map((attempt) => all.indexOf(attempt)),
      [0, 1, 2, 3, 4].filter((at) => !leaving.includes(all[at]!)),
    )
    assert.equal(line.size, 0)
  }
})

test('who is not in line is left alone, and who has left holds nobody', () => {
  const [a, b, c] = attempts(3) as [WireAttempt, WireAttempt, WireAttempt]
  const line = new AttemptLine()
  line.add(a)
  line.add(b)
  line.delete(c)
  line.delete(a)
  line.delete(a)
  assert.deepEqual(
    [line.size, line.first, a.lineNext, a.linePrevious, b.linePrevious],
    [1, b, null, null, null],
  )
  line.add(a)
  assert.deepEqual(drained(line), [b, a])
})
