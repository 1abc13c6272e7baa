import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.js'
import type { Route } from './route.js'

const PLAN = { maxLoopDelayMs: 100, maxInFlight: null, retryAfterMs: 1000 }

/** An admission under a clock of its own; which criticalities (0 low, 1 normal, 2 critical) it takes. */
function admissionAt(): { look(atMono: number, lateMs: number): void; takes(atMono: number): number[] } {
  let nowMono = 0
  const admission = new Admission(() => nowMono)
  admission.configure(PLAN)
  return {
    look(atMono, lateMs) {
      nowMono = atMono
      admission.onLoopDelay(lateMs)
    },
    takes(atMono) {
      nowMono = atMono
      return [0, 1, 2].filter((criticality) => admission.refusalOf({ criticality } as Route, 1) === null)
    },
  }
}

test('one long task is no overload, however long', () => {
  const { look, takes } = admissionAt()
  look(5000, 4980)
  assert.deepEqual(takes(5100), [0, 1, 2])
  look(5120, 5)
  look(10_000, 4860)
  assert.deepEqual(takes(10_100), [0, 1, 2])
})

test('in an overload a turn takes what it reaches early, and is over it after a second without refusals', () => {
  const { look, takes } = admissionAt()
  look(500, 480)
  look(1000, 480)
  assert.deepEqual(takes(1030), [0, 1, 2])
  assert.deepEqual(takes(1036), [1, 2])
  assert.deepEqual(takes(1041), [2])
  look(1050, 30)
  assert.deepEqual(
    takes(1095),
    [2],
    'the look was in time, and what is refused shows that there is still too much',
  )
  look(2000, 0)
  assert.deepEqual(takes(2041), [2])
  look(3100, 0)
  assert.deepEqual(takes(3199), [0, 1, 2])
})
