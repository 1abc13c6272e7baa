import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/spread.js'
import type { Point } from '../model/summary.js'
import { samplePoint } from '../testing/sample-summary.js'
import { areCostsAlike, busyText, costRemark, costText, hasCost } from './cost.js'

/** A point whose load was bounded by something else than the contestant. */
function bounded(changes: Partial<Point> = {}): Point {
  return samplePoint({ busyShare: 0.9, invalid: ['not gateway-bound'], costInvalid: [], ...changes })
}

test('CPU time is a result where nothing speaks against it; a run of before says of points as a whole only', () => {
  assert.ok(hasCost(bounded()) && hasCost(samplePoint()))
  assert.ok(!hasCost(bounded({ costInvalid: ['errors'] })))
  const { costInvalid: _, ...older } = bounded()
  assert.ok(!hasCost(older))
  assert.ok(!hasCost(samplePoint({ cpuMicrosPerRequest: spreadOf([]) })))
})

test('how busy a contestant was stands beside what a request cost it, unless it was full', () => {
  assert.equal(costText(samplePoint()), '46')
  assert.equal(costText(bounded()), '46 at 90 %')
  assert.equal(costText(bounded({ busyShare: 0.4, sharesCores: true })), '46 at 40 %, cores shared')
  assert.equal(costText(bounded({ costInvalid: ['errors'] })), '–')
  assert.equal(busyText(samplePoint({ busyShare: Number.NaN })), '')
  assert.equal(costRemark([samplePoint()]), null)
  assert.match(costRemark([samplePoint(), bounded()])!, /busy alike, within ten points/)
})

test('costs are held against each other where contestants were busy alike, and alone alike', () => {
  assert.ok(areCostsAlike(samplePoint(), bounded()))
  assert.ok(!areCostsAlike(samplePoint(), bounded({ busyShare: 0.8 })))
  assert.ok(!areCostsAlike(samplePoint(), bounded({ sharesCores: true })))
  assert.ok(!areCostsAlike(samplePoint(), bounded({ costInvalid: ['errors'] })))
  const shared = bounded({ sharesCores: true, busyShare: 0.3 })
  assert.ok(areCostsAlike(shared, { ...shared, busyShare: 0.6 }))
  const held = bounded({ kind: 'fixed-rate', targetPerSecond: 100, busyShare: 0.3 })
  assert.ok(areCostsAlike(held, { ...held, busyShare: 0.6 }))
  const unknown = samplePoint({ busyShare: Number.NaN })
  assert.ok(areCostsAlike(unknown, unknown))
})
