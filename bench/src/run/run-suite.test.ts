import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import { type TestContext, test } from 'node:test'
import { origin } from '@sluice/cli/testing'
import type { Engine } from '../model/engine.js'
import type { RunOptions, Target } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { processTree } from '../process/process-use.js'
import { missingElasticsearch } from '../servers/elasticsearch.js'
import { missingPeer } from '../servers/peers.js'
import { commandOf } from '../testing/processes.js'
import { partsOf, smallLoad } from '../testing/small-load.js'
import { Notes, optionsOf, PLAIN, suiteOf } from '../testing/small-suite.js'
import { runSuite } from './run-suite.js'

const runner =
  (engine: Engine) =>
  (...[options, notes]: [RunOptions, Notes]) =>
    runSuite(options, notes, partsOf(engine))

/** Nothing is on the PATH until the test ends. */
function hidePrograms(t: TestContext): void {
  const path = process.env['PATH']
  process.env['PATH'] = '/nonexistent'
  t.after(() => {
    process.env['PATH'] = path
  })
}

const noNginx = missingPeer('nginx') ?? false

/** The processes that this one has started and that are still there. */
function childPids(): number[] {
  return processTree(process.pid).filter((pid) => pid !== process.pid)
}

function assertPlausible(point: Point): void {
  assert.ok(point.requests > 0, `${point.system} completed no request`)
  assert.ok(point.perSecond.mean > 0 && point.perSecond.min <= point.perSecond.mean)
  assert.equal(point.perSecond.values.length, 2)
  // CPU time comes in ticks of 10 ms: a few requests may have used none.
  const cost = point.cpuMicrosPerRequest?.mean ?? null
  assert.ok(cost === null ? point.requests < 1000 : cost > 0, 'requests cost CPU time')
  assert.ok(point.rssBytes! > 1_000_000)
  assert.ok(point.requests < 1000 ? point.busyShare! >= 0 : point.busyShare! > 0)
  assert.equal(point.upstreamWaits === null, point.system !== 'sluice')
  assert.ok(point.ceilingPerSecond! > 0, 'load generator and origin can do something by themselves')
  assert.equal(point.latency?.count, point.requests)
  assert.ok(Object.values(point.errors).every((count) => count === 0))
}

test('a suite yields a plausible point for each number of connections and system', async () => {
  const peers = noNginx === false ? (['nginx'] as const) : []
  const notes = new Notes()
  const options = optionsOf(suiteOf(PLAIN, [4, 20]), { peers, rateShares: [0.5] })
  const summary = await runner(smallLoad())(options, notes)
  const systems = ['sluice', ...peers]
  const keys = summary.points.map(({ system, connections, kind }) => `${system} ${connections} ${kind}`)
  const expected = systems.flatMap((name) =>
    [4, 20].flatMap((count) => [`${name} ${count} saturation`, `${name} ${count} fixed-rate`]),
  )
  assert.deepEqual(keys.toSorted(), expected.toSorted())
  for (const point of summary.points) assertPlausible(point)
  for (const point of summary.points) {
    if (point.kind === 'saturation') assert.equal(point.targetPerSecond, null)
    else assert.ok(point.targetPerSecond! > 0)
    assert.equal(point.diagnostics.length, point.system === 'sluice' ? 1 : 0)
  }
  if (cpus().length > 1)
    assert.doesNotMatch(
      summary.points.map(({ warnings = [] }) => warnings.join()).join(),
      /share their cores/,
    )
  const [worker] = summary.points.find(({ system }) => system === 'sluice')!.diagnostics
  assert.ok(worker!.heapUsedBytes > 1_000_000 && worker!.rssBytes > worker!.heapUsedBytes)
  // The probe in the worker reports garbage collections and the memory after a full one.
  assert.ok(worker!.heapAfterGcBytes! > 1_000_000 && worker!.heapAfterGcBytes! < worker!.rssAfterGcBytes!)
  assert.ok(worker!.gcLongestMicros! >= 0 && worker!.fullGcCount! >= 0)
  assert.ok(summary.points.every(({ loadAverage }) => loadAverage! >= 0))
  assert.ok(worker!.loopLagP99Micros >= 0)
  assert.ok(worker!.cpuMicros > 0)
  assert.deepEqual(Object.keys(summary.documents), ['plain'])
  assert.equal(notes.points.length, summary.points.length)
  assert.ok(notes.steps.length >= expected.length * 2)
  assert.match(summary.host.versions['sluice'] ?? '', /^\d/)
  assert.equal(summary.host.versions['autocannon'], '0.0.0')
  assert.deepEqual(childPids(), [])
})

/** Anybody's server, so that no gateway has to be started for what the load generator does. */
async function target(t: TestContext): Promise<Target> {
  return { origin: await origin(t, (_, response) => response.end('hello')), pid: null }
}

test('a scenario and its base are measured in pairs, each with new processes', async () => {
  const withHeader = { ...PLAIN, id: 'header', title: 'W1 GET header' }
  const gateways = new Set<string>()
  const load = smallLoad(() => {
    for (const pid of childPids()) gateways.add(/gateway-\d+\.yaml/.exec(commandOf(pid))?.[0] ?? '')
    gateways.delete('')
  })
  const notes = new Notes()
  const suite = {
    ...suiteOf(withHeader, [2]),
    cases: [{ scenario: withHeader, base: PLAIN, connections: [2] }],
  }
  const { points, documents } = await runner(load)(optionsOf(suite, { isPinned: false }), notes)
  assert.deepEqual(
    points.map(({ scenario, pairedWith, perSecond }) => [scenario, pairedWith, perSecond.values.length]),
    [
      ['plain', undefined, 2],
      ['header', 'plain', 2],
    ],
  )
  assert.equal(gateways.size, 4)
  assert.deepEqual(Object.keys(documents).toSorted(), ['header', 'plain'])
  assert.deepEqual(
    notes.steps
      .map((step) => /(W1 GET(?: header)?), .* in pair (\d)/.exec(step)?.slice(1).join(' '))
      .toSorted(),
    ['W1 GET 1', 'W1 GET 2', 'W1 GET header 1', 'W1 GET header 2'],
  )
  assert.deepEqual(childPids(), [])
})

test('between points nothing is loaded for as long as is asked for', async (t) => {
  const load = smallLoad()
  const gaps: number[] = []
  let endMono = performance.now()
  const timed: Engine = {
    ...load,
    run: async (options) => {
      gaps.push(performance.now() - endMono)
      return load.run(options).finally(() => {
        endMono = performance.now()
      })
    },
  }
  const changes = { target: await target(t), coolDownSeconds: 0.5, repetitions: 1 }
  await runner(timed)(optionsOf(suiteOf(PLAIN, [2, 4]), changes), new Notes())
  assert.ok(Math.max(...gaps.slice(1)) > 490, gaps.join())
})

test('a load generator that is the bottleneck is a warning, and one that cannot work is the reason of the point', async (t) => {
  const load = smallLoad()
  const flawed: Engine = {
    ...load,
    run: async (options) => {
      if (options.connections === 4) throw new Error('no more files\nat line 1')
      return { ...(await load.run(options)), busyShare: 0.99 }
    },
  }
  const options = optionsOf(suiteOf(PLAIN, [2, 4]), { target: await target(t) })
  const { points } = await runner(flawed)(options, new Notes())
  assert.match(points[0]!.warnings!.join('\n'), /the load generator was busy for 99 %/)
  assert.deepEqual([points[0]!.invalid, points[0]!.perSecond.values.length], [[], 2])
  assert.ok(points[1]!.invalid.includes('no more files'))
})

test('an origin that dies makes points that are no result, and no rates follow from them', async () => {
  const load = smallLoad(() => {
    for (const pid of childPids()) {
      if (/origin|nginx/.test(commandOf(pid))) process.kill(pid, 'SIGKILL')
    }
  })
  const notes = new Notes()
  const options = optionsOf(suiteOf(PLAIN, [4]), { rateShares: [0.5] })
  const summary = await runner(load)(options, notes)
  assert.deepEqual(
    summary.points.map(({ kind }) => kind),
    ['saturation'],
  )
  assert.match(summary.points[0]!.invalid.join('\n'), /no request was completed/)
  assert.match(summary.points[0]!.invalid.join('\n'), /requests failed, 0 were completed: .*status/)
  assert.deepEqual(childPids(), [])
})

test('a run that is stopped keeps what it has measured, waits no longer and leaves no process behind', async () => {
  const stop = new AbortController()
  const notes = new Notes((count) => {
    if (count === 2) stop.abort()
  })
  const changes = { coolDownSeconds: 3600, signal: stop.signal }
  const summary = await runner(smallLoad())(optionsOf(suiteOf(PLAIN, [2, 4]), changes), notes)
  assert.deepEqual([notes.steps.length, summary.points.length], [2, 1])
  assert.ok(summary.points[0]!.requests > 0)
  assert.ok(summary.warnings.includes('the run was stopped before its end'))
  assert.deepEqual(childPids(), [])
})

test('a peer that is not installed is named with the remedy before anything starts', async (t) => {
  hidePrograms(t)
  const remedy = missingPeer('envoy')
  if (remedy === null) return t.skip('Envoy is where no PATH is needed')
  const notes = new Notes()
  const run = runner(smallLoad())(
    optionsOf(suiteOf(PLAIN, [2]), { peers: ['envoy'], isPinned: false }),
    notes,
  )
  await assert.rejects(run, { message: remedy })
  assert.deepEqual(notes.steps, [])
})

test('a load generator that is not installed ends the run before it begins', async () => {
  const absent: Engine = { ...smallLoad(), version: () => null }
  const run = runner(absent)(optionsOf(suiteOf(PLAIN, [2])), new Notes())
  await assert.rejects(run, /the load generator autocannon is not installed: write one$/)
})

test('a gateway that refuses its document ends the run with the reason', async () => {
  const scenario = { ...PLAIN, routes: [{ id: 'all', upstream: 'nowhere' }] }
  const run = runner(smallLoad())(optionsOf(suiteOf(scenario, [2])), new Notes())
  await assert.rejects(run, /sluice ended while it started[\s\S]*nowhere/)
  assert.deepEqual(childPids(), [])
})

test('without Elasticsearch its points are left out with the remedy', async (t) => {
  if (missingElasticsearch() === null) return t.skip('Elasticsearch is installed')
  const { cases } = suiteOf(PLAIN, [2])
  const logged = { ...PLAIN, id: 'logged', log: 'elasticsearch' as const }
  const suite = { ...suiteOf(PLAIN, [2]), cases: [...cases, { scenario: logged, connections: [2] }] }
  const summary = await runner(smallLoad())(optionsOf(suite), new Notes())
  assert.deepEqual(
    summary.points.map(({ scenario }) => scenario),
    ['plain'],
  )
  assert.match(summary.warnings.join('\n'), /left out: logged, because .*npm run services/)
})
