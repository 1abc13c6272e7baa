import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LatencyMeter } from './latency-meter.js'

/** A meter with a limit of 100 ms, and sequential calls. */
function meter() {
  const latency = new LatencyMeter(100)
  let nowMono = 0
  let changes = 0
  return {
    latency,
    changes: () => changes,
    answers(count: number, latencyMs: number, apartMs = 100): void {
      for (let i = 0; i < count; i++) {
        if (latency.add(nowMono, nowMono + latencyMs)) changes++
        nowMono += apartMs
      }
    },
  }
}

test('a server that answers slowly all the time becomes slow, once', () => {
  const { latency, answers, changes } = meter()
  answers(100, 80)
  assert.equal(latency.isSlow, false)
  answers(100, 120)
  assert.deepEqual([latency.isSlow, changes()], [true, 1])
})

test('a hiccup does not mark a server as slow, however many calls it delays', () => {
  const { latency, answers } = meter()
  answers(100, 1)
  answers(1, 10_000)
  answers(500, 10_000, 0)
  assert.equal(latency.isSlow, false)
})

test('a slow server counts as slow until it has been fast for 5 s', () => {
  const { latency, answers, changes } = meter()
  answers(20, 200)
  // Below the limit, but not below half of it.
  answers(200, 70)
  assert.equal(latency.isSlow, true)
  answers(45, 10)
  answers(1, 190)
  answers(1, 200)
  answers(1, 200)
  answers(45, 10)
  assert.equal(latency.isSlow, true, 'it was slow in between')
  answers(20, 10)
  assert.deepEqual([latency.isSlow, changes()], [false, 2])
})

test('a latency that oscillates around the limit changes the state once', () => {
  const { answers, changes } = meter()
  for (let i = 0; i < 100; i++) {
    answers(20, 130)
    answers(20, 75)
  }
  assert.equal(changes(), 1)
})

test('a process that was late itself does not blame the server', () => {
  const { latency, answers } = meter()
  for (let i = 0; i < 50; i++) {
    answers(3, 500)
    latency.forgive()
  }
  assert.equal(latency.isSlow, false)
})
