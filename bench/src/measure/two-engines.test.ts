import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine, LoadOrder } from '../model/engine.js'
import { suiteRunner } from './run-suite.js'
import { mergedSpectrum, smallLoad } from './testing/small-load.js'
import { Notes, optionsOf, PLAIN, suiteOf } from './testing/small-suite.js'

/** Two load generators, of which `wrk` holds no rate; both write down what they are told. */
function engines(changes: Partial<Engine> = {}) {
  const orders: { readonly name: string; readonly order: LoadOrder }[] = []
  const named = (name: Engine['name']): Engine => ({
    ...smallLoad((order) => orders.push({ name, order })),
    ...{ name, hasOpenLoop: name !== 'wrk', version: () => `1.0 of ${name}` },
    ...(name === 'wrk' ? changes : {}),
  })
  return { named, orders }
}

test('one load generator measures saturation and another the rates, each below a ceiling of its own', async () => {
  const { named, orders } = engines()
  const options = optionsOf(suiteOf(PLAIN, [4]), {
    ...{ engine: 'autocannon', saturationEngine: 'wrk', rateShares: [0.5], repetitions: 1 },
    sloMicros: 5_000_000,
  })
  const summary = await suiteRunner(named, mergedSpectrum)(options, new Notes())
  assert.deepEqual(
    summary.points.map(({ kind, engine, sloMicros }) => [kind, engine, sloMicros !== undefined]),
    [
      ['saturation', 'wrk', false],
      ['fixed-rate', 'autocannon', false],
      ['fixed-rate', 'autocannon', true],
    ],
  )
  assert.deepEqual([summary.engine, summary.saturationEngine], ['autocannon', 'wrk'])
  assert.deepEqual(
    [summary.host.versions['wrk'], summary.host.versions['autocannon']],
    ['1.0 of wrk', '1.0 of autocannon'],
  )
  const [saturation, rate] = summary.points
  assert.notEqual(saturation!.ceilingPerSecond, rate!.ceilingPerSecond)
  assert.ok(orders.every(({ name, order }) => name !== 'wrk' || order.perSecond === null))
  assert.equal(orders.filter(({ name, order }) => name !== 'wrk' && order.perSecond === null).length, 1)
})

test('the ceiling is measured for a second at least, behind a lead-in, so that no load generator is judged cold', async () => {
  const { named, orders } = engines()
  const options = optionsOf(suiteOf(PLAIN, [2]), { seconds: 2, repetitions: 1 })
  await suiteRunner(named, mergedSpectrum)(options, new Notes())
  const [, ceiling, point] = orders.map(({ order }) => order)
  assert.deepEqual([ceiling!.warmUpSeconds, ceiling!.seconds], [0.5, 1])
  assert.deepEqual([point!.warmUpSeconds, point!.seconds], [0, 2])
})

test('a load generator that tells of its lead-in has one in front of every measured load, others have none', async () => {
  for (const [changes, leadIn] of [[{ hasLeadIn: true } as const, 0.5] as const, [{}, 0] as const]) {
    const { named, orders } = engines(changes)
    const options = optionsOf(suiteOf(PLAIN, [2]), { saturationEngine: 'wrk', repetitions: 1 })
    await suiteRunner(named, mergedSpectrum)(options, new Notes())
    assert.equal(orders.at(-1)!.order.warmUpSeconds, leadIn)
  }
})

test('without rates the other load generator is asked for nothing', async () => {
  const { named, orders } = engines()
  const options = optionsOf(suiteOf(PLAIN, [2]), { saturationEngine: 'wrk', repetitions: 1 })
  await suiteRunner(named, mergedSpectrum)(options, new Notes())
  assert.deepEqual([...new Set(orders.map(({ name }) => name))], ['wrk'])
})

test('rates and highest rates of a saturation that is no result are none, but their CPU time is', async () => {
  const load = smallLoad()
  const run: Engine['run'] = async (order) => ({ ...(await load.run(order)), busyShare: 0.99 })
  const { named } = engines({ run })
  const options = optionsOf(suiteOf(PLAIN, [4]), {
    ...{ saturationEngine: 'wrk', rateShares: [0.2], repetitions: 1, sloMicros: 5_000_000 },
  })
  const { points } = await suiteRunner(named, mergedSpectrum)(options, new Notes())
  const [saturation, ...rates] = points
  assert.match(saturation!.invalid.join('\n'), /the load generator was busy for 99 %/)
  assert.equal(saturation!.generatorBusyShare, 0.99)
  assert.equal(rates.length, 2)
  for (const point of rates) {
    assert.match(point.invalid.join('\n'), /its saturation is no result/)
    assert.doesNotMatch(point.costInvalid!.join('\n'), /its saturation is no result/)
    assert.equal(point.generatorBusyShare, 0.5)
  }
})

test('a load generator that is not installed ends the run before it begins, whatever it is for', async () => {
  const { named } = engines({ version: () => null })
  const run = suiteRunner(named, mergedSpectrum)(
    optionsOf(suiteOf(PLAIN, [2]), { saturationEngine: 'wrk' }),
    new Notes(),
  )
  await assert.rejects(run, /the load generator wrk is not installed: write one$/)
})
