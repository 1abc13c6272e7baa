import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleLine } from './console-format.js'

const TIME = new Date(2026, 0, 31, 8, 15, 2, 7).toISOString()

test('a console entry has time, level, event and fields on one line', () => {
  const entry = {
    time: TIME,
    level: 'warn',
    event: 'worker.silent',
    worker: 2,
    why: 'no answer',
    ids: ['a', 'b'],
  }
  assert.equal(
    consoleLine(entry, false),
    '08:15:02.007 WARN  worker.silent          worker=2 why="no answer" ids=["a","b"]\n',
  )
})

test('a stack is printed below its entry', () => {
  const entry = {
    time: TIME,
    level: 'error',
    event: 'worker.crashed',
    stack: 'Error: x\n    at f (a.js:1:2)',
  }
  const [head, ...below] = consoleLine(entry, false).trimEnd().split('\n')
  assert.equal(head, '08:15:02.007 ERROR worker.crashed')
  assert.deepEqual(below, ['    Error: x', '    at f (a.js:1:2)'])
})

test('terminal control characters are made visible', () => {
  const entry = {
    time: TIME,
    level: 'info',
    event: 'x',
    path: '/\u001b[2J',
    host: '\u202eb',
    stack: 'a\nb\u001b[31m',
  }
  const line = consoleLine(entry, false)
  assert.doesNotMatch(line, /[\u001b\u202e]/)
  assert.match(line, /\\u\{202e\}b/)
})

test('only the level is coloured', () => {
  const entry = { time: TIME, level: 'error', event: 'x' }
  assert.equal(consoleLine(entry, true), '08:15:02.007 \u001b[31mERROR\u001b[0m x\n')
  assert.doesNotMatch(consoleLine({ ...entry, level: 'info' }, true), /\u001b/)
})
