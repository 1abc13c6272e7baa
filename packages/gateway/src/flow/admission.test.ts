import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.js'
import type { Route } from './route.js'

const PLAN = { maxLoopDelayMs: 100, maxInFlight: null, retryAfterMs: 1000 }

interface Trial {
  /** An event-loop check at a time, with a delay. By default the process worked all the while. */
  look(atMono: number, lateMs: number, workedMs?: number): void
  /** Criticalities (0 low, 1 normal, 2 critical) that are admitted. */
  takes(atMono: number, workedMs?: number): number[]
  /** The end of a turn that leaves connections waiting. If the turn before left none, it is the first. */
  leavesConnections(atMono: number, isFirst: boolean, workedMs?: number): void
}

/** An admission with test clocks. */
function admissionAt(): Trial {
  let now = { mono: 0, cpuMs: 0 }
  const admission = new Admission(() => now)
  admission.configure(PLAN)
  const goOn = (atMono: number, workedMs: number): void => {
    now = { mono: atMono, cpuMs: now.cpuMs + workedMs }
  }
  return {
    look(atMono, lateMs, workedMs = atMono - now.mono) {
      goOn(atMono, workedMs)
      admission.onLoopDelay(lateMs)
    },
    takes(atMono, workedMs = atMono - now.mono) {
      goOn(atMono, workedMs)
      return [0, 1, 2].filter((criticality) => admission.refusalOf({ criticality } as Route, 1) === null)
    },
    leavesConnections(atMono, isFirst, workedMs = atMono - now.mono) {
      goOn(atMono, workedMs)
      admission.onFullAcceptTurn(isFirst)
    },
  }
}

test('one long task is not an overload, however long', () => {
  const { look, takes } = admissionAt()
  look(5000, 4980)
  assert.deepEqual(takes(5100), [0, 1, 2])
  look(5120, 5)
  look(10_000, 4860)
  assert.deepEqual(takes(10_100), [0, 1, 2])
})

test('a process that waits for the CPU is not overloaded by that', () => {
  const { look, takes } = admissionAt()
  for (let at = 500; at <= 5000; at += 500) look(at, 480, 90)
  assert.deepEqual(takes(5500), [0, 1, 2])
  look(6000, 480)
  look(6500, 480)
  assert.deepEqual(takes(6900, 20), [0, 1, 2], 'in an overload either')
  assert.deepEqual(takes(6925), [2])
})

test('during an overload a turn serves the requests it reaches early, and the overload ends after a second without refusals', () => {
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

test('connections that wait through many short turns are an overload, and requests get a smaller part of each turn', () => {
  const { look, takes, leavesConnections } = admissionAt()
  look(10, 0)
  for (let at = 30; at <= 130; at += 20) {
    leavesConnections(at, at === 30)
    look(at, 0)
    assert.deepEqual(takes(at + 12), [0, 1, 2], 'not yet for long')
  }
  leavesConnections(150, false)
  look(150, 0)
  assert.deepEqual(takes(158), [0, 1, 2])
  assert.deepEqual(takes(159), [1, 2])
  assert.deepEqual(takes(161), [2])
  look(170, 0)
  assert.deepEqual(takes(200), [0, 1, 2], 'none are left behind any more')
  look(2200, 0)
  assert.deepEqual(takes(2399), [0, 1, 2], 'and it is over')
})

test('a new backlog has not waited since the last one, nor while the process had no CPU', () => {
  const { look, takes, leavesConnections } = admissionAt()
  leavesConnections(30, true)
  leavesConnections(5000, true)
  leavesConnections(9000, false, 50)
  look(9001, 0, 0)
  assert.deepEqual(takes(9100), [0, 1, 2])
})
