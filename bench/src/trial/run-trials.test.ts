import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gw, scratch } from '@sluice/cli/testing'
import type { Engine } from '../model/engine.js'
import type { RunOptions } from '../model/run.js'
import type { Suite } from '../model/scenario.js'
import type { Trial, TrialPlan } from '../model/trial.js'
import { coreLayout } from '../process/cores.js'
import { processTree } from '../process/process-use.js'
import { readSummary } from '../report/results.js'
import { runSuite } from '../run/run-suite.js'
import { missingElasticsearch } from '../servers/elasticsearch.js'
import type { FaultOrigin } from '../servers/fault-origin.js'
import { apinizer } from '../suite/apinizer.js'
import { chaos, soak } from '../suite/trials.js'
import { partsOf, SMALL_PARTS, smallLoad, steadyLoad } from '../testing/small-load.js'
import { Notes, optionsOf } from '../testing/small-suite.js'
import { type Fault, type FaultNeeds, NOTHING_LOST } from './fault.js'
import { FAULTS, upstreamSlow } from './faults.js'
import { HostsFile, NotAllowed } from './hosts-file.js'
import { openTrialSetup, type TrialSetup } from './setup.js'
import { runTrial } from './trial-run.js'

const PLANS = chaos.trials ?? []
/** A tenth of what a small load generator sees at saturation, so that a busy machine holds it. */
const OPTIONS: Partial<RunOptions> = { warmUpSeconds: 0.2, seconds: 3, rateShares: [0.1] }
/** Of a trial that only has to see what its fault does. */
const TIMES = { warmUpSeconds: 0.2, seconds: 3 }
const NONE_LOST = { connect: 0, reset: 0, timeout: 0, unsent: 0 }

function run(suite: Suite, changes: Partial<RunOptions> = {}, notes = new Notes(), parts = SMALL_PARTS) {
  return runSuite(optionsOf(suite, { ...OPTIONS, ...changes }), notes, parts)
}

function planOf(id: string): TrialPlan {
  return { ...PLANS.find((one) => one.id === id)!, log: 'none', connections: 64 }
}

/** Two workers and their origins, without a traffic log. */
async function opened(t: TestContext, id: string, needs: FaultNeeds = {}): Promise<TrialSetup> {
  const layout = coreLayout(2, false)
  const setup = await openTrialSetup({ dir: scratch(t), plan: planOf(id), needs, layout, logNode: null })
  t.after(() => setup.close())
  return setup
}

/** An origin whose counts begin now, for a trial on a setup that has had others. */
async function counting(origin: FaultOrigin): Promise<FaultOrigin> {
  const before = await origin.counts()
  return {
    ...origin,
    counts: async () => {
      const { requests, failed, slow } = await origin.counts()
      return {
        requests: requests - before.requests,
        failed: failed - before.failed,
        slow: slow - before.slow,
      }
    },
  }
}

/** A load that is the same on every machine. */
async function tried(setup: TrialSetup, id: string, fault = FAULTS[id]!()): Promise<Trial> {
  const origin = await counting(setup.origin)
  const otherOrigin = setup.otherOrigin === null ? null : await counting(setup.otherOrigin)
  const { signal } = new AbortController()
  return runTrial({
    ...{ plan: planOf(id), fault, setup: { ...setup, origin, otherOrigin }, signal, ...TIMES },
    ...{ saturationPerSecond: 1000, perSecond: 300 },
  })
}

async function passed(setup: TrialSetup, id: string, fault = FAULTS[id]!()): Promise<Trial> {
  const trial = await tried(setup, id, fault)
  assert.deepEqual(trial.failures, [])
  assertWhole(trial)
  return trial
}

/** What holds for every trial. */
function assertWhole({ requests, statuses, lost, phases }: Trial): void {
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  assert.equal(answered + lost.reset + lost.timeout, requests, 'every request ended in one way')
  assert.deepEqual(
    phases.map(({ name }) => name),
    ['before', 'during', 'after'],
  )
  assert.ok(phases.every((phase) => phase.answered > 0 && phase.p99Micros! >= phase.p50Micros!))
}

test('what may be lost and what has to arrive is told of one gateway in trial after trial', async (t) => {
  const setup = await opened(t, 'target-change', { hasOtherOrigin: true })

  await t.test('of an upstream that answers 5 % with 500 just these arrive', async () => {
    const { upstreamErrors, gatewayErrors, origin } = await passed(setup, 'upstream-errors')
    assert.ok(upstreamErrors > 0)
    assert.deepEqual([upstreamErrors, gatewayErrors], [origin.failed, 0])
  })

  await t.test(
    'a trial that loses something fails, and so does one whose fault cannot be injected',
    async () => {
      const unforgiven: Fault = { ...FAULTS['upstream-errors']!(), expects: () => NOTHING_LOST }
      const failed = await tried(setup, 'upstream-errors', unforgiven)
      assert.match(failed.failures.join('\n'), /^\d+ errors of the upstream arrived, 0 were sent$/m)
      const broken: Fault = { begin: () => Promise.reject(new Error('it was not done')) }
      assert.deepEqual((await tried(setup, 'upstream-errors', broken)).failures, ['it was not done'])
    },
  )

  await t.test('a killed worker costs what was under way at most, and another takes its place', async () => {
    const { newWorkers, lost, connections } = await passed(setup, 'worker-kill')
    assert.equal(newWorkers, 1)
    assert.ok(lost.reset <= connections)
  })

  await t.test('a deploy that names another target loses no request', async () => {
    const { origin, requests } = await passed(setup, 'target-change')
    assert.deepEqual([origin.requests, origin.stray], [requests, 0])
  })

  await t.test('workers that are replaced one after the other lose no request', async () => {
    const { newWorkers, lost } = await passed(setup, 'rolling-restart')
    assert.equal(newWorkers, 2)
    assert.deepEqual(lost, NONE_LOST)
  })
})

test('of an upstream that is too slow for 1 % just these are errors of the gateway, and nothing is asked twice', async (t) => {
  const fault = upstreamSlow(5000)
  const trial = await passed(await opened(t, 'upstream-slow', fault.needs), 'upstream-slow', fault)
  const { gatewayErrors, upstreamErrors, origin, requests } = trial
  assert.ok(gatewayErrors > 0)
  assert.deepEqual([gatewayErrors, upstreamErrors, origin.requests], [origin.slow, 0, requests])
})

test('a name that means another address is followed, and no request is lost', async (t) => {
  try {
    HostsFile.in(scratch(t), '127.0.0.1')
  } catch (error) {
    assert.ok(error instanceof NotAllowed)
    return t.skip(error.message)
  }
  const fault = FAULTS['dns-change']!()
  // Longer than any wait for a new connection on a busy machine.
  const upstream = { timeouts: { connect: '60s', headers: '60s' } }
  const setup = await opened(t, 'dns-change', { ...fault.needs, upstream })
  const trial = await passed(setup, 'dns-change', fault)
  const { origin, requests, connections } = trial
  assert.equal(origin.requests, requests)
  assert.ok(origin.stray <= connections)
})

test('a trial that cannot be carried out has failed with the reason; the soak after it reloads, and reports memory and files', async () => {
  const notes = new Notes()
  const [plan] = soak.trials!
  const suite: Suite = { ...soak, trials: [{ ...plan!, id: 'unheard-of' }, plan!] }
  const { trials, warnings, points, documents } = await run(suite, { seconds: 4.5 }, notes)
  const [unheard, trial] = trials
  assert.deepEqual(
    [unheard!.id, unheard!.failures],
    ['unheard-of', ["it could not be carried out: unknown trial 'unheard-of'"]],
  )
  assert.deepEqual([points, Object.keys(documents)], [[], ['soak']])
  assert.deepEqual(trial!.failures, [], warnings.join())
  assertWhole(trial!)
  const figures = trial!.soak!
  assert.ok(figures.reloads >= 1 && figures.failedReloads === 0)
  assert.ok(figures.samples > 3 && figures.heap!.bytes > 1e6 && figures.heap!.errorPerHour > 0)
  assert.ok(figures.rssBytes.every((bytes) => bytes > 1e7) && figures.files.every((count) => count > 10))
  assert.deepEqual([notes.steps, notes.trials], [['soak', 'soak'], trials])
})

test('a soak that is stopped is no result, says what was seen until then, and leaves nothing running', async () => {
  const stop = new AbortController()
  const load = smallLoad()
  // The saturation of a long run is that of ten seconds, which are long enough for a test of their own.
  const brief: Engine = { ...load, run: (options) => load.run({ ...options, seconds: 0.5 }) }
  const notes = new Notes(() => setTimeout(() => stop.abort(), 4000))
  const changes = { seconds: 3600, signal: stop.signal }
  const { trials, warnings } = await run(soak, changes, notes, partsOf(brief))
  assert.match(trials[0]!.invalid.join(), /^it was stopped after \d{1,3} s$/)
  assert.ok(warnings.includes('the run was stopped before its end'))
  assert.deepEqual(processTree(process.pid).slice(1), [])
})

test('every request has its record in Elasticsearch, also after Elasticsearch or a worker was killed or Elasticsearch stood still', {
  skip: missingElasticsearch() ?? false,
}, async () => {
  const ids = ['elasticsearch-down', 'elasticsearch-slow', 'worker-kill']
  const chosen = PLANS.filter(({ id }) => ids.includes(id))
  const { scenario } = apinizer.cases.find((one) => one.scenario.id === 'w1-post-1kb-elasticsearch')!
  const suite = { ...chaos, cases: [{ scenario, connections: [8] }], trials: chosen }
  const { points, trials, warnings } = await run(
    suite,
    { repetitions: 1 },
    new Notes(),
    partsOf(steadyLoad()),
  )
  assert.deepEqual(new Set(points.map((point) => point.scenario)), new Set([scenario.id]))
  for (const { requests, errors, invalid } of points) {
    assert.ok(requests > 0)
    assert.ok(Object.values(errors).every((count) => count === 0))
    assert.doesNotMatch(invalid.join('\n'), /Elasticsearch|traffic log/)
  }
  assert.deepEqual(
    trials.map(({ id, failures }) => [id, failures]),
    ids.map((id) => [id, []]),
    warnings.join(),
  )
  for (const { log, requests, deliveredSeconds } of trials.slice(0, 2)) {
    assert.deepEqual(log, { documents: requests, dead: 0, dropped: 0, repeated: 0, missing: 0 })
    assert.ok(deliveredSeconds! > 0)
  }
  assert.ok(trials[2]!.log!.documents > 0)
  assert.deepEqual(processTree(process.pid).slice(1), [])
})

test('every trial of the suites has a fault', () => {
  const ids = [...PLANS, ...(soak.trials ?? [])].map(({ id }) => id)
  assert.deepEqual(ids.toSorted(), Object.keys(FAULTS).toSorted())
})

test('without an Elasticsearch the command leaves its trials out, counts no records, and writes all reports', {
  skip: missingElasticsearch() === null && 'Elasticsearch is installed',
}, async (t) => {
  const dir = scratch(t)
  const line = 'bench run chaos --quick --scenario upstream-errors --scenario elasticsearch-slow --rates 20'
  const { stdout, stderr } = await gw([...line.split(' '), '--out', dir], { timeout: 120_000 })
  assert.match(
    stderr,
    /^warning: left out: elasticsearch-slow, because no Elasticsearch is installed;.*\nwarning: .*; no records are counted$/m,
  )
  assert.match(stdout, /^upstream errors .* – .* passed$/m)
  assert.deepEqual(
    readSummary(join(dir, 'summary.json')).trials.map(({ id, log, failures }) => [id, log, failures]),
    [['upstream-errors', null, []]],
  )
  assert.match(readFileSync(join(dir, 'report.html'), 'utf8'), /upstream errors/)
})
