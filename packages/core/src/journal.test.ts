import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Journal } from './journal.js'

const told = ({ policies }: Journal) => policies!.map(({ id, ms, verdict }) => `${id} ${ms} ${verdict}`)

test('of the phases of a policy the times add up, and the gravest verdict stands', () => {
  const journal = new Journal(true)
  journal.begin('a', 1).end(1, 2, 'pass')
  journal.begin('b', 2).end(2, 4, 'stop')
  journal.begin('a', 5).end(5, 8, 'pass')
  journal.begin('b', 9).end(9, 10, 'pass')
  assert.deepEqual(told(journal), ['a 4 pass', 'b 3 stop'])
})

test('what its answer does not tell is told by its mark, which belongs to one phase', () => {
  const journal = new Journal(true)
  const run = journal.begin('a', 1)
  journal.running!.mark = 'skip'
  run.end(1, 2, 'pass')
  assert.deepEqual(told(journal), ['a 1 skip'])
  journal.begin('a', 3).end(3, 4, 'pass')
  assert.deepEqual(told(journal), ['a 2 pass'])
})

test('a phase that was given up is told once, and is not heard when it ends after all', () => {
  const journal = new Journal(true)
  const late = journal.begin('a', 1)
  const later = journal.begin('a', 11)
  assert.equal(late, later)
  assert.deepEqual(told(journal), ['a 10 error'])
  late.end(1, 12, 'pass')
  assert.deepEqual(told(journal), ['a 10 error'])
  later.end(11, 15, 'pass')
  assert.deepEqual(told(journal), ['a 14 error'])
  journal.close(20)
  assert.deepEqual(told(journal), ['a 14 error'])
})

test('what still runs when the exchange is over had its time; policies beyond the bound are not told', () => {
  const journal = new Journal(true)
  for (let i = 0; i < 33; i++) journal.begin(`p${i}`, i)
  journal.close(40)
  assert.equal(journal.policies!.length, 32)
  assert.deepEqual(told(journal).at(-1), 'p31 9 error')
  const untraced = new Journal(false)
  untraced.close(1)
  assert.equal(untraced.policies, null)
})
