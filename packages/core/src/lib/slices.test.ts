import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import timers from 'node:timers/promises'
import { Slices } from './slices.js'

/** Runs work of 100 ms in steps of 1 ms on a fake clock. Returns the lengths of its slices and of the pauses after them. */
async function ran(t: TestContext, slices: () => Slices) {
  const [lengths, rests]: [number[], (number | undefined)[]] = [[], []]
  let [nowMs, startMs] = [0, 0]
  const pause = async (restMs?: number): Promise<void> => {
    lengths.push(nowMs - startMs)
    rests.push(restMs)
    nowMs += restMs ?? 0
    startMs = nowMs
  }
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.method(timers, 'setTimeout', pause)
  t.mock.method(timers, 'setImmediate', () => pause())
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const result = await slices().run(
    (function* () {
      for (let step = 0; step < 100; step++) {
        nowMs++
        yield
      }
      return 'done'
    })(),
  )
  assert.equal(result, 'done')
  return { lengths, rests }
}

test('long work is interrupted every 5 ms and continues in the next turn', async (t) => {
  const { lengths, rests } = await ran(t, () => new Slices())
  assert.equal(lengths.length, 16)
  assert.ok(Math.max(...lengths) <= 6, `slices of ${lengths} ms`)
  assert.ok(rests.every((restMs) => restMs === undefined))
})

test('on a thread that serves requests, each slice is followed by a pause of the same length', async (t) => {
  const { lengths, rests } = await ran(t, () => new Slices(true))
  assert.equal(lengths.length, 16)
  assert.deepEqual(rests, lengths)
})
