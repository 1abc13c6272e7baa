import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type Deadline, TimerWheel } from './timer-wheel.js'

const TICK_MS = 50
const ROUND_MS = 256 * TICK_MS

class Alarm implements Deadline {
  dueAt: number
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  fired = 0
  readonly #then: () => void

  constructor(dueAt: number, then: () => void = () => {}) {
    this.dueAt = dueAt
    this.#then = then
  }

  onDeadline(): void {
    this.fired++
    this.#then()
  }
}

/** A wheel that only the test turns, with a clock that stops at the edge of a tick. */
function wheelAt(t: TestContext): { wheel: TimerWheel; now: number } {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = 1000 * TICK_MS
  t.mock.method(performance, 'now', () => now)
  return { wheel: new TimerWheel(), now }
}

test('a deadline fires once, not before it is due and at most one tick later', (t) => {
  const { wheel, now } = wheelAt(t)
  const alarms = [1, TICK_MS, TICK_MS + 1, ROUND_MS, ROUND_MS + 1, 3 * ROUND_MS].map(
    (delay) => new Alarm(now + delay),
  )
  for (const alarm of alarms) wheel.arm(alarm)
  for (let at = now; at <= now + 4 * ROUND_MS; at += TICK_MS) {
    wheel.turn(at)
    for (const { dueAt, fired } of alarms) {
      if (at < dueAt) assert.equal(fired, 0)
      if (at >= dueAt + TICK_MS) assert.equal(fired, 1)
    }
  }
  assert.equal(wheel.armed, 0)
})

test('a deadline moved later does not fire at its old time, and arming it again moves it earlier', (t) => {
  const { wheel, now } = wheelAt(t)
  const later = new Alarm(now + 100)
  const earlier = new Alarm(now + 10_000)
  wheel.arm(later)
  wheel.arm(earlier)
  later.dueAt = now + 5000
  earlier.dueAt = now + 200
  wheel.arm(earlier)
  assert.equal(wheel.armed, 2)
  wheel.turn(now + 300)
  assert.deepEqual([later.fired, earlier.fired], [0, 1])
  wheel.turn(now + 4950)
  assert.equal(later.fired, 0)
  wheel.turn(now + 5050)
  assert.equal(later.fired, 1)
})

test('after a long pause everything that is due fires in one turn', (t) => {
  const { wheel, now } = wheelAt(t)
  const alarms = Array.from({ length: 600 }, (_, i) => new Alarm(now + i * TICK_MS))
  for (const alarm of alarms) wheel.arm(alarm)
  wheel.turn(now + 10 * ROUND_MS)
  assert.ok(alarms.every(({ fired }) => fired === 1))
})

test('a deadline may disarm, move and arm others that are due in the same turn', (t) => {
  const { wheel, now } = wheelAt(t)
  const due = now + TICK_MS
  const last = new Alarm(due)
  const moved = new Alarm(due)
  const disarmed = new Alarm(due)
  const added = new Alarm(due)
  const first = new Alarm(due, () => {
    wheel.disarm(disarmed)
    moved.dueAt = now + 500
    wheel.arm(moved)
    wheel.arm(added)
  })
  // The slot is a stack: the deadline armed last is visited first.
  for (const alarm of [last, moved, disarmed, first]) wheel.arm(alarm)
  wheel.turn(now + TICK_MS)
  assert.deepEqual(
    [first, disarmed, moved, last].map(({ fired }) => fired),
    [1, 0, 0, 1],
  )
  assert.equal(wheel.armed, 2)
  wheel.turn(now + 600)
  assert.deepEqual([moved.fired, added.fired, disarmed.fired, wheel.armed], [1, 1, 0, 0])
})

test('whatever deadlines do to each other, exactly those armed and due have fired', (t) => {
  const { now: start } = wheelAt(t)
  let now = start
  t.mock.method(performance, 'now', () => now)
  const index = fc.nat(7)
  const delay = fc.constantFrom(0, 20, 50, 120, 400, ROUND_MS - 50, ROUND_MS, ROUND_MS + 170)
  const act = fc.record({ kind: fc.constantFrom('arm', 'disarm'), index, delay })
  const moves = fc.array(fc.oneof(act, fc.record({ kind: fc.constant('turn' as const), index, delay })), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(
      moves,
      fc.array(fc.array(act, { maxLength: 3 }), { minLength: 8, maxLength: 8 }),
      (all, reactions) => {
        const wheel = new TimerWheel()
        now = start
        /** Deadlines that should be armed, by due time. */
        const expected = new Map<Alarm, number>()
        const perform = ({
          kind,
          index: i,
          delay: ms,
        }: {
          kind: string
          index: number
          delay: number
        }): void => {
          const alarm = alarms[i]!
          if (kind === 'disarm') {
            wheel.disarm(alarm)
            expected.delete(alarm)
          } else {
            alarm.dueAt = now + ms + 1
            wheel.arm(alarm)
            expected.set(alarm, alarm.dueAt)
          }
        }
        const alarms = reactions.map((reaction) => {
          const alarm: Alarm = new Alarm(0, () => {
            assert.ok((expected.get(alarm) ?? Number.POSITIVE_INFINITY) <= now, 'it was not due')
            expected.delete(alarm)
            if (alarm.fired < 3) reaction.forEach(perform)
          })
          return alarm
        })
        for (const move of all) {
          if (move.kind === 'turn') {
            now += move.delay
            wheel.turn(now)
            for (const due of expected.values()) assert.ok(due > now - TICK_MS, 'it is overdue')
          } else perform(move)
          assert.equal(wheel.armed, expected.size)
        }
        now += 3 * ROUND_MS
        wheel.turn(now)
        wheel.close()
      },
    ),
    { numRuns: 500 },
  )
})
