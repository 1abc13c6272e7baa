import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingMemoryGroups } from '../contestant/memory-group.js'
import { missingPeer } from '../contestant/peers.js'
import type { Engine, LoadOrder, LoadResult } from '../model/engine.js'
import type { RunOptions } from '../model/run.js'
import type { Scenario, Suite } from '../model/scenario.js'
import { coreLayout } from './cores.js'
import { measure } from './repetition.js'
import { suiteRunner } from './run-suite.js'
import { mergedSpectrum, smallLoad } from './testing/small-load.js'
import { Notes, optionsOf, PLAIN, suiteOf } from './testing/small-suite.js'

const GB = 1024 ** 3
const run = suiteRunner(() => smallLoad(), mergedSpectrum)

function order(scenario: Scenario, changes: Partial<RunOptions> = {}): RunOptions {
  const suite: Suite = suiteOf(scenario, [2])
  return optionsOf(suite, { isMemoryLimited: true, repetitions: 1, ...changes })
}

/** The system may name the group that could not be made, and each has another name. */
function unnumbered(text: string): string {
  return text.replaceAll(/sluice-bench-\w+/g, '')
}

test('gateway and peers of a tier have its memory, or the run says why not', async () => {
  const peers = missingPeer('nginx') === null ? (['nginx'] as const) : []
  const { points, warnings } = await run(order(PLAIN, { peers }), new Notes())
  const limits = points.map(({ memory }) => memory?.limitBytes)
  const missing = missingMemoryGroups()
  const said = warnings.filter((warning) => warning.includes('memory')).map(unnumbered)
  assert.equal(points.length, 1 + peers.length)
  assert.deepEqual(
    said,
    missing === null ? [] : [unnumbered(`the memory of a tier is no limit in this run: ${missing}`)],
  )
  assert.deepEqual(new Set(limits), new Set([missing === null ? 2 * GB : undefined]))
  for (const { memory } of points)
    assert.ok(memory === undefined || (memory.peakBytes! > 1_000_000 && memory.peakBytes! < 2 * GB))
})

test('who has no tier has no limit, nor has anybody where none is wished', async () => {
  const notes = new Notes()
  await run(order({ ...PLAIN, tier: null }), notes)
  await run(order(PLAIN, { isMemoryLimited: false }), notes)
  assert.deepEqual(
    notes.points.map(({ memory }) => memory),
    [undefined, undefined],
  )
  assert.doesNotMatch(notes.warnings.join('\n'), /memory/)
})

test('where no limit can be set the run says so once, and all else is as ever', async (t) => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nonexistent'
  t.after(() => {
    process.env['PATH'] = path
  })
  const other = { ...PLAIN, id: 'other' }
  const { cases, ...rest } = suiteOf(PLAIN, [2])
  const suite = { ...rest, cases: [...cases, { scenario: other, connections: [2] }] }
  const { points, warnings } = await run(order(PLAIN, { suite, isPinned: false }), new Notes())
  assert.equal(warnings.filter((warning) => /^the memory of a tier is no limit/.test(warning)).length, 1)
  assert.deepEqual(
    points.map(({ memory, requests }) => [memory, requests > 0]),
    [
      [undefined, true],
      [undefined, true],
    ],
  )
})

const LOAD: LoadOrder = {
  ...{ origin: 'http://127.0.0.1:9', call: PLAIN.call, connections: 1, warmUpSeconds: 0, seconds: 1 },
  ...{ perSecond: null, cpu: null, dir: '' },
}
const RESULT: LoadResult = {
  ...{ requests: 100, seconds: 1, latency: null, busyShare: 0.5 },
  errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
}

test('a contestant of which the kernel ended processes for want of memory has no result', async () => {
  const engine: Engine = { ...smallLoad(), run: async () => RESULT }
  const failureAfter = async (kills: number): Promise<string | null> => {
    const memory = { limitBytes: 2 * GB, peakBytes: () => GB, takeKills: () => kills }
    const about = { name: 'sluice', url: LOAD.origin, pid: process.pid, cores: 1, version: '1' }
    const contestant = { ...about, gateway: null, memory }
    const { failure, memory: limit } = await measure(contestant, engine, LOAD, coreLayout(1, false))
    assert.deepEqual(limit, { limitBytes: 2 * GB, peakBytes: GB })
    return failure
  }
  assert.equal(await failureAfter(0), null)
  assert.equal(await failureAfter(1), 'the kernel ended 1 process of sluice, which may use 2 GB of memory')
  assert.match((await failureAfter(3)) ?? '', /^the kernel ended 3 processes of sluice, /)
})
