import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { origin } from '@sluice/cli/testing'
import type { Engine } from '../model/engine.js'
import type { Summary } from '../model/summary.js'
import { partsOf, smallLoad } from '../testing/small-load.js'
import { Notes, optionsOf, PLAIN, suiteOf } from '../testing/small-suite.js'
import { runSuite } from './run-suite.js'

const SECONDS = 0.3

/** A load generator that asks for real and then claims these requests a second, one after the other. */
function claiming(figures: readonly number[]): { readonly engine: Engine; readonly reported: () => number } {
  const load = smallLoad()
  let reported = 0
  const run: Engine['run'] = async (options) => {
    const result = await load.run(options)
    // The warm-up is shorter, and the ceiling has a lead-in.
    return options.seconds === SECONDS && options.warmUpSeconds === 0
      ? { ...result, requests: figures[reported++] ?? 0, seconds: 1 }
      : result
  }
  return { engine: { ...load, run }, reported: () => reported }
}

async function measured(t: TestContext, engine: Engine, stopAt = Number.NaN): Promise<Summary> {
  const stop = new AbortController()
  const notes = new Notes((count) => {
    if (count === stopAt) stop.abort()
  })
  // How busy the cores of a server that is running are is not known, so that nothing but the figures is checked.
  const target = { origin: await origin(t, (_, response) => response.end('hello')), pid: null }
  const options = optionsOf(suiteOf(PLAIN, [2]), { target, seconds: SECONDS, signal: stop.signal })
  return runSuite(options, notes, partsOf(engine))
}

test('repetitions that are more than 5 % apart are made again, and the steadier ones count', async (t) => {
  const { engine, reported } = claiming([100, 200, 150, 151])
  const { points, warnings } = await measured(t, engine)
  assert.equal(reported(), 4)
  assert.deepEqual(points[0]!.perSecond.values, [150, 151])
  assert.doesNotMatch(warnings.join('\n'), /apart/)
})

test('repetitions that agree are made once', async (t) => {
  const { engine, reported } = claiming([100, 107])
  const { points } = await measured(t, engine)
  assert.equal(reported(), 2)
  assert.deepEqual(points[0]!.perSecond.values, [100, 107])
})

test('they are made again once only, and what is still apart is reported', async (t) => {
  const { engine, reported } = claiming([100, 150, 100, 300])
  const { points, warnings } = await measured(t, engine)
  assert.equal(reported(), 4)
  assert.deepEqual(points[0]!.perSecond.values, [100, 150])
  assert.match(warnings.join('\n'), /the repetitions vary by 28 % \(coefficient of variation\)/)
})

test('a second measurement that was cut short does not count', async (t) => {
  const { engine, reported } = claiming([100, 150, 120, 120])
  const { points } = await measured(t, engine, 3)
  assert.equal(reported(), 3)
  assert.deepEqual(points[0]!.perSecond.values, [100, 150])
})
