import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerPart } from '../admin/answer-part.js'
import { sorted, TrafficRates } from './traffic.js'

function answer(requests: Record<string, number>, buckets: readonly number[]): AnswerPart {
  const traffic = { requests, buckets }
  const value = { boundsSeconds: [0.01, 0.1], total: traffic, routes: [{ id: 'a', ...traffic }] }
  return new AnswerPart(value, 'the answer')
}

test('rates and percentiles are those between two answers', () => {
  const before = answer({ '2xx': 90, '5xx': 10 }, [100, 0, 0])
  const after = answer({ '2xx': 180, '4xx': 5, '5xx': 15 }, [150, 49, 1])
  const { routes } = new TrafficRates(before, after, 10)
  const [row] = routes
  assert.deepEqual([row?.rate, row?.clientErrors, row?.serverErrors, row?.total], [10, 0.5, 0.5, 200])
  assert.equal(row?.p50, 10)
  assert.ok(row?.p90 !== null && row!.p90 > 80 && row!.p90 < 85)
  assert.equal(new TrafficRates(after, after, 1).routes[0]?.p99, null)
})

test('routes are sorted by a column, then by name, with routes without requests last', () => {
  const row = new TrafficRates(null, answer({ '2xx': 1 }, [1, 0, 0]), 1).routes[0]!
  const rows = [
    { ...row, route: 'idle', p99: null },
    { ...row, route: 'b' },
    { ...row, route: 'a', rate: 5 },
  ]
  assert.deepEqual(
    sorted(rows, 'p99').map(({ route }) => route),
    ['a', 'b', 'idle'],
  )
  assert.deepEqual(
    sorted(rows, 'rate').map(({ route }) => route),
    ['a', 'b', 'idle'],
  )
  assert.deepEqual(
    sorted(rows, 'route').map(({ route }) => route),
    ['a', 'b', 'idle'],
  )
})
