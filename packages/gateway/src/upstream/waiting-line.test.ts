import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type InLine, WaitingLine } from './waiting-line.js'

interface Caller extends InLine {
  readonly name: string
}

function callers(names: string): Caller[] {
  return [...names].map((name) => ({
    name,
    isInLine: false,
    waitingSince: 0,
    lineNext: null,
    linePrevious: null,
  }))
}

/** Takes all of them out, and names them in order. */
function drained(line: WaitingLine<Caller>): string {
  let names = ''
  for (let first = line.first; first !== null; first = line.first) {
    names += first.name
    line.delete(first)
  }
  return names
}

test('who came first leaves first, and who is given up leaves from wherever it is', () => {
  const all = callers('abcde')
  const line = new WaitingLine<Caller>(60_000, () => assert.fail('nobody waits for so long'))
  for (const leaving of ['', 'a', 'c', 'e', 'ab', 'ed', 'bd', 'cae']) {
    for (const caller of all) line.add(caller)
    for (const name of leaving) line.delete(all.find((caller) => caller.name === name)!)
    assert.equal(line.size, 5 - leaving.length)
    assert.equal(drained(line), [...'abcde'].filter((name) => !leaving.includes(name)).join(''))
    assert.equal(line.size, 0)
  }
})

test('who is not in line is left alone, and who has left holds nobody', () => {
  const [a, b, c] = callers('abc') as [Caller, Caller, Caller]
  const line = new WaitingLine<Caller>(60_000, () => assert.fail('nobody waits for so long'))
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
  assert.equal(drained(line), 'ba')
})
