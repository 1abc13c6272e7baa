import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runToCompletion } from './run-to-completion.js'
import { sortInSteps } from './sort-in-steps.js'

const byKey = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0]

test('items are sorted, and equal ones keep their order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 3000, size: 'max' }),
      fc.boolean(),
      (keys, isSorted) => {
        const items = (isSorted ? keys.toSorted((a, b) => a - b) : keys).map((key, i) => [key, i] as const)
        assert.deepEqual(runToCompletion(sortInSteps(items, byKey)), items.toSorted(byKey))
      },
    ),
    { numRuns: 50 },
  )
})

test('each step makes only a small part of the comparisons', () => {
  const items = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 50_000)
  let [compared, most] = [0, 0]
  const steps = sortInSteps(items, (a, b) => {
    compared++
    return a - b
  })
  let step = steps.next()
  while (step.done !== true) {
    most = Math.max(most, compared)
    compared = 0
    step = steps.next()
  }
  assert.ok(most < 6000, `${most} comparisons in one step`)
})
