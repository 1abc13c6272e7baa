import type { HttpResponse } from 'uWebSockets.js'
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MAX_EARLY_BYTES } from './early-body.js'
import { canLinger, Linger } from './linger.js'

interface Lingering {
  readonly linger: Linger
  readonly ended: () => number
  readonly cut: () => number
}

function begin(t: TestContext, isAnswered: boolean): Lingering {
  let ended = 0
  let cut = 0
  const res = { close: () => cut++ } as unknown as HttpResponse
  const linger = new Linger(res, isAnswered, () => ended++)
  t.after(() => linger.close())
  return { linger, ended: () => ended, cut: () => cut }
}

const ROUND_MS = 1000

test("an idle client's connection ends after 5 s, or after 1 s if it may wait for the end of its response", (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const answered = begin(t, true)
  const waiting = begin(t, false)
  t.mock.timers.tick(2 * ROUND_MS)
  assert.deepEqual([waiting.ended(), answered.ended()], [1, 0])
  t.mock.timers.tick(4 * ROUND_MS)
  assert.deepEqual([waiting.ended(), answered.ended()], [1, 1])
})

test('a connection whose client keeps sending ends after 30 s', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { linger, ended } = begin(t, true)
  for (let round = 0; round < 29; round++) {
    linger.add(1, false)
    t.mock.timers.tick(ROUND_MS)
  }
  assert.equal(ended(), 0)
  t.mock.timers.tick(ROUND_MS)
  assert.equal(ended(), 1)
})

test('a connection whose client sends too much is cut', (t) => {
  const { linger, cut } = begin(t, true)
  linger.add(MAX_EARLY_BYTES, false)
  assert.equal(cut(), 0)
  linger.add(1, false)
  assert.equal(cut(), 1)
})

test('no more than 256 connections linger', (t) => {
  const all = Array.from({ length: 256 }, () => begin(t, true))
  assert.equal(canLinger(), false)
  all[0]!.linger.close()
  all[0]!.linger.close()
  assert.equal(canLinger(), true)
})
