import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Check, SignatureChecks } from './signature-checks.js'

/** A clock that moves only on demand. */
class Clock {
  nowMs = 0
  readonly read = (): number => this.nowMs
}

/** Checks that take 1 ms of the event loop, or end on a thread when released. */
class Work {
  readonly #clock: Clock
  readonly ends: (() => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  check(): Check<string> {
    return {
      now: () => {
        this.#clock.nowMs++
        return 'here'
      },
      later: () => new Promise((resolve) => void this.ends.push(() => resolve('thread'))),
    }
  }
}

const x = { endedMono: 0 }

function started() {
  const clock = new Clock()
  const work = new Work(clock)
  const checks = new SignatureChecks(clock.read)
  return { clock, work, checks, run: (of = x) => checks.run(of, work.check()) }
}

/** Runs checks until the event loop has no time left. */
function exhaust(run: () => unknown): void {
  while (run() === 'here');
}

test('checks run on the event loop while they take less than half of its time', () => {
  const { clock, run } = started()
  let here = 0
  for (let i = 0; i < 100; i++) {
    clock.nowMs += 2
    if (run() === 'here') here++
  }
  assert.equal(here, 100)
})

test('of 2,000 checks at once a few run here, some on threads, and the others are refused', async () => {
  const { work, run } = started()
  const outcomes = Array.from({ length: 2000 }, () => run())
  assert.ok(outcomes.filter((outcome) => outcome === 'here').length <= 21)
  const later = outcomes.filter((outcome) => outcome instanceof Promise)
  assert.equal(later.length, 258)
  assert.equal(outcomes.at(-1), null)
  assert.equal(work.ends.length, 2, 'two at a time')
  while (work.ends.length > 0) {
    work.ends.shift()!()
    await new Promise(setImmediate)
  }
  assert.deepEqual(new Set(await Promise.all(later)), new Set(['thread']))
})

test('the event loop is used again once time has passed', () => {
  const { clock, run } = started()
  exhaust(run)
  clock.nowMs += 4
  assert.equal(run(), 'here')
})

test('idle time is not saved up without a bound', () => {
  const { clock, run } = started()
  clock.nowMs += 1_000_000
  const startMs = clock.nowMs
  exhaust(run)
  assert.ok(clock.nowMs - startMs <= 21)
})

test('a request that has ended is passed over, and a check that fails frees its thread', async () => {
  const { work, checks, run } = started()
  exhaust(run)
  const failing = checks.run(x, { now: () => 'here', later: () => Promise.reject(new Error('no such key')) })
  const gone = { endedMono: 0 }
  const waiting = run(gone)
  const queued = run()
  gone.endedMono = 1
  await assert.rejects(async () => failing, /no such key/)
  assert.equal(await waiting, null)
  for (const end of work.ends) end()
  assert.equal(await queued, 'thread')
})
