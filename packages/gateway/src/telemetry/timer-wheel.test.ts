import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Deadline, TimerWheel } from './timer-wheel.js'

/** More than one round of the wheel. */
const LONG_MS = 40_000

interface Watched extends Deadline {
  /** The time given to the turn that fired it; -1 before. */
  firedAt: number
}

interface Clock {
  readonly wheel: TimerWheel
  readonly startMs: number
  add(afterMs: number): Watched
  /** Turns the wheel in small steps until so long after the start. */
  runTo(afterMs: number): void
}

/** A wheel turned by the test; its own timer finds nothing to do because the time it is given runs ahead. */
function clock(t: TestContext): Clock {
  const wheel = new TimerWheel()
  t.after(() => wheel.close())
  const startMs = performance.now()
  let nowMs = startMs
  return {
    wheel,
    startMs,
    add(afterMs) {
      const deadline: Watched = {
        dueAt: startMs + afterMs,
        wheelNext: null,
        wheelPrevious: null,
        wheelSlot: -1,
        firedAt: -1,
        onDeadline: () => {
          deadline.firedAt = nowMs
        },
      }
      wheel.arm(deadline)
      return deadline
    },
    runTo(afterMs) {
      for (; nowMs < startMs + afterMs; nowMs += 10) wheel.turn(nowMs)
    },
  }
}

test('a deadline never fires early, and at most a tick late', (t) => {
  const time = clock(t)
  const deadlines = [0, 1, 49, 50, 51, 999, 12_800, 12_801, 30_000].map((ms) => time.add(ms))
  time.runTo(LONG_MS)
  for (const { dueAt, firedAt } of deadlines) {
    assert.ok(firedAt >= dueAt, `${dueAt - firedAt} ms early`)
    assert.ok(firedAt - dueAt <= 60, `${firedAt - dueAt} ms late`)
  }
  assert.equal(time.wheel.armed, 0)
})

test('a deadline that was moved later fires at its new time, once', (t) => {
  const time = clock(t)
  const deadline = time.add(1000)
  time.runTo(900)
  deadline.dueAt = time.startMs + 5000
  time.runTo(4900)
  assert.equal(deadline.firedAt, -1)
  time.runTo(6000)
  assert.ok(deadline.firedAt >= deadline.dueAt)
})

test('a deadline that was armed again for an earlier time fires then', (t) => {
  const time = clock(t)
  const deadline = time.add(10_000)
  deadline.dueAt = time.startMs + 500
  time.wheel.arm(deadline)
  assert.equal(time.wheel.armed, 1)
  time.runTo(1000)
  assert.ok(deadline.firedAt >= deadline.dueAt)
})

test('a disarmed deadline does not fire, and its neighbours in the slot do', (t) => {
  const time = clock(t)
  const [first, middle, last] = [time.add(700), time.add(700), time.add(700)]
  time.wheel.disarm(middle)
  time.wheel.disarm(middle)
  assert.equal(time.wheel.armed, 2)
  time.runTo(1000)
  assert.equal(middle.firedAt, -1)
  assert.ok(first.firedAt > 0 && last.firedAt > 0)
})

test('after a pause of the process longer than a round everything due fires at once', (t) => {
  const time = clock(t)
  const deadlines = [100, 5000, 12_000, 39_000].map((ms) => time.add(ms))
  const far = time.add(LONG_MS * 2)
  time.wheel.turn(time.startMs + LONG_MS)
  for (const { firedAt } of deadlines) assert.ok(firedAt > 0)
  assert.equal(far.firedAt, -1)
  assert.equal(time.wheel.armed, 1)
})

test('a deadline may be armed again while it fires', (t) => {
  const time = clock(t)
  let count = 0
  const deadline = time.add(100)
  deadline.onDeadline = () => {
    count++
    deadline.dueAt += 1000
    time.wheel.arm(deadline)
  }
  time.runTo(3500)
  assert.equal(count, 4)
})
