import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptTrace } from './attempt-trace.js'

const reported = ({ policies }: AttemptTrace) =>
  policies!.map(({ id, ms, verdict }) => `${id} ${ms} ${verdict}`)

test("times of a policy's phases add up, and the most severe verdict counts", () => {
  const trace = new AttemptTrace(true)
  trace.begin('a', 1).end(1, 2, 'pass')
  trace.begin('b', 2).end(2, 4, 'stop')
  trace.begin('a', 5).end(5, 8, 'pass')
  trace.begin('b', 9).end(9, 10, 'pass')
  assert.deepEqual(reported(trace), ['a 4 pass', 'b 3 stop'])
})

test('a mark overrides the verdict of one phase', () => {
  const trace = new AttemptTrace(true)
  const run = trace.begin('a', 1)
  trace.running!.mark = 'skip'
  run.end(1, 2, 'pass')
  assert.deepEqual(reported(trace), ['a 1 skip'])
  trace.begin('a', 3).end(3, 4, 'pass')
  assert.deepEqual(reported(trace), ['a 2 pass'])
})

test('an abandoned phase is reported once, and its late end is ignored', () => {
  const trace = new AttemptTrace(true)
  const late = trace.begin('a', 1)
  const later = trace.begin('a', 11)
  assert.equal(late, later)
  assert.deepEqual(reported(trace), ['a 10 error'])
  late.end(1, 12, 'pass')
  assert.deepEqual(reported(trace), ['a 10 error'])
  later.end(11, 15, 'pass')
  assert.deepEqual(reported(trace), ['a 14 error'])
  trace.close(20)
  assert.deepEqual(reported(trace), ['a 14 error'])
})

test('running policies are closed with the exchange, and policies beyond the limit are not reported', () => {
  const trace = new AttemptTrace(true)
  for (let i = 0; i < 33; i++) trace.begin(`p${i}`, i)
  trace.close(40)
  assert.equal(trace.policies!.length, 32)
  assert.deepEqual(reported(trace).at(-1), 'p31 9 error')
  const untraced = new AttemptTrace(false)
  untraced.close(1)
  assert.equal(untraced.policies, null)
})

test('runs of 0.1 ms or more have spans with their phase, up to a limit', () => {
  const trace = new AttemptTrace(true, true)
  trace.begin('quick', 1).end(1, 1.09, 'pass')
  trace.begin('slow', 2, 'response_body').end(2, 2.2, 'stop', 'GW_X')
  const failing = trace.begin('slow', 3, 'attempt')
  failing.mark = 'error'
  failing.note = 'TypeError'
  failing.end(3, 4, 'pass')
  trace.begin('never', 5)
  trace.close(7)
  assert.deepEqual(
    trace.spans?.map(({ id, phase, startedMono, verdict, note }) => [id, phase, startedMono, verdict, note]),
    [
      ['slow', 'response_body', 2, 'stop', 'GW_X'],
      ['slow', 'attempt', 3, 'error', 'TypeError'],
      ['never', 'request', 5, 'error', 'unanswered'],
    ],
  )
  for (let i = 10; i < 50; i++) trace.begin('slow', i).end(i, i + 0.5, 'pass')
  assert.equal(trace.spans?.length, 32)
  const silent = new AttemptTrace(true)
  silent.begin('slow', 1).end(1, 2, 'pass')
  assert.equal(silent.spans, null)
})
