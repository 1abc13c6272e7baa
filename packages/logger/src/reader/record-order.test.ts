import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { byTime, OrderedRecords } from './record-order.js'
import type { RecordView } from './record-view.js'

function view(timeMs: number, id: string): RecordView {
  return { record: { id }, line: JSON.stringify({ id }), timeMs }
}

test('records come out by time and id, whatever the order they came in, also while others come', () => {
  const records = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 50 }), fc.string()).map(([timeMs, id]) => view(timeMs, id)),
  )
  fc.assert(
    fc.property(records, fc.integer({ min: 0, max: 20 }), (views, taken) => {
      const ordered = new OrderedRecords()
      for (const one of views) ordered.add(one)
      const expected = [...views].sort(byTime)
      const out: RecordView[] = []
      for (let i = 0; i < Math.min(taken, views.length); i++) out.push(ordered.takeOldest()!)
      assert.deepEqual(out, expected.slice(0, taken))
      for (const one of out) ordered.add(one)
      const rest: RecordView[] = []
      while (ordered.count > 0) rest.push(ordered.takeOldest()!)
      assert.deepEqual(rest, expected)
      assert.equal(ordered.takeOldest(), undefined)
    }),
  )
})
