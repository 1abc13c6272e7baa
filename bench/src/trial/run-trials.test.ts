import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gw } from '@sluice/cli/testing'
import { coreLayout } from '../measure/cores.js'
import { processTree } from '../measure/process-use.js'
import { runSuite } from '../measure/run-suite.js'
import type { RunOptions } from '../model/run.js'
import type { Suite } from '../model/scenario.js'
import type { Summary } from '../model/summary.js'
import type { Trial, TrialPlan } from '../model/trial.js'
import { readSummary } from '../report/results.js'
import { missingElasticsearch } from '../servers/elasticsearch.js'
import { chaos, soak } from '../suite/trials.js'
import { SMALL_PARTS } from '../testing/small-load.js'
import { Notes, optionsOf } from '../testing/small-suite.js'
import { type Fault, NOTHING_LOST } from './fault.js'
import { FAULTS, upstreamSlow } from './faults.js'
import { HostsFile, NotAllowed } from './hosts-file.js'
import { openTrialSetup } from './setup.js'
import { runTrial } from './trial-run.js'

const PLANS = chaos.trials ?? []
/** A tenth of what a small load generator sees at saturation, so that a busy machine holds it. */
const OPTIONS: Partial<RunOptions> = { warmUpSeconds: 0.5, seconds: 4.5, rateShares: [0.1] }
const NONE_LOST = { connect: 0, reset: 0, timeout: 0, unsent: 0 }

function run(suite: Suite, changes: Partial<RunOptions> = {}, notes = new Notes()): Promise<Summary> {
  return runSuite(optionsOf(suite, { ...OPTIONS, ...changes }), notes, SMALL_PARTS)
}

function planOf(id: string): TrialPlan {
  return { ...PLANS.find((one) => one.id === id)!, log: 'none', connections: 64 }
}

/** A trial without a traffic log, with a load that is the same on every machine. */
async function trialOf(t: TestContext, id: string, fault = FAULTS[id]!()): Promise<Trial> {
  const trial = await tried(t, planOf(id), fault)
  assert.deepEqual(trial.failures, [])
  assertWhole(trial)
  return trial
}

async function tried(t: TestContext, plan: TrialPlan, fault: Fault): Promise<Trial> {
  const layout = coreLayout(2, false)
  const setup = await openTrialSetup({
    dir: folder(t),
    plan,
    needs: fault.needs ?? {},
    layout,
    logNode: null,
  })
  const { signal } = new AbortController()
  const times = { warmUpSeconds: 0.5, seconds: 5 }
  try {
    return await runTrial({ plan, fault, setup, signal, ...times, saturationPerSecond: 1000, perSecond: 300 })
  } finally {
    await setup.close()
  }
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

test('of an upstream that answers 5 % with 500 just these arrive', async (t) => {
  const { upstreamErrors, gatewayErrors, origin } = await trialOf(t, 'upstream-errors')
  assert.ok(upstreamErrors > 0)
  assert.deepEqual([upstreamErrors, gatewayErrors], [origin.failed, 0])
})

test('of an upstream that is too slow for 1 % just these are errors of the gateway, and nothing is asked twice', async (t) => {
  const trial = await trialOf(t, 'upstream-slow', upstreamSlow(5000))
  const { gatewayErrors, upstreamErrors, origin, requests } = trial
  assert.ok(gatewayErrors > 0)
  assert.deepEqual([gatewayErrors, upstreamErrors, origin.requests], [origin.slow, 0, requests])
})

test('a name that means another address is followed, and no request is lost', async (t) => {
  try {
    HostsFile.in(folder(t), '127.0.0.1')
  } catch (error) {
    assert.ok(error instanceof NotAllowed)
    return t.skip(error.message)
  }
  const { origin, requests, connections } = await trialOf(t, 'dns-change')
  assert.equal(origin.requests, requests)
  assert.ok(origin.stray <= connections)
})

test('a deploy that names another target loses no request', async (t) => {
  const { origin, requests } = await trialOf(t, 'target-change')
  assert.deepEqual([origin.requests, origin.stray], [requests, 0])
})

test('a killed worker costs what was under way at most, and another takes its place', async (t) => {
  const { newWorkers, lost, connections } = await trialOf(t, 'worker-kill')
  assert.equal(newWorkers, 1)
  assert.ok(lost.reset <= connections)
})

test('workers that are replaced one after the other lose no request', async (t) => {
  const { newWorkers, lost } = await trialOf(t, 'rolling-restart')
  assert.equal(newWorkers, 2)
  assert.deepEqual(lost, NONE_LOST)
})

test('a short soak reloads, and reports memory and files', async () => {
  const notes = new Notes()
  const { trials, warnings, points, documents } = await run(soak, {}, notes)
  const [trial] = trials
  assert.deepEqual([points, Object.keys(documents)], [[], ['soak']])
  assert.deepEqual(trial!.failures, [], warnings.join())
  assertWhole(trial!)
  const figures = trial!.soak!
  assert.ok(figures.reloads >= 1 && figures.failedReloads === 0)
  assert.ok(figures.samples > 3 && figures.heap!.bytes > 1e6 && figures.heap!.errorPerHour > 0)
  assert.ok(figures.rssBytes.every((bytes) => bytes > 1e7) && figures.files.every((count) => count > 10))
  assert.deepEqual([notes.steps, notes.trials], [['soak'], [trial]])
})

test('a soak that is stopped is no result, says what was seen until then, and leaves nothing running', async () => {
  const stop = new AbortController()
  const notes = new Notes(() => setTimeout(() => stop.abort(), 4000))
  const { trials, warnings } = await run(soak, { seconds: 3600, signal: stop.signal }, notes)
  assert.match(trials[0]!.invalid.join(), /^it was stopped after \d{1,3} s$/)
  assert.ok(warnings.includes('the run was stopped before its end'))
  assert.deepEqual(processTree(process.pid).slice(1), [])
})

test('an Elasticsearch that is killed, or stands still, and a worker that is killed cost no record that may not be lost', {
  skip: missingElasticsearch() ?? false,
}, async () => {
  const ids = ['elasticsearch-down', 'elasticsearch-slow', 'worker-kill']
  const chosen = PLANS.filter(({ id }) => ids.includes(id))
  const { trials, warnings } = await run({ ...chaos, trials: chosen })
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
})

test('a trial that loses something fails, and so does one whose fault cannot be injected', async (t) => {
  const plan = planOf('upstream-errors')
  const unforgiven: Fault = { ...FAULTS[plan.id]!(), expects: () => NOTHING_LOST }
  const failed = await tried(t, plan, unforgiven)
  assert.match(failed.failures.join('\n'), /^\d+ errors of the upstream arrived, 0 were sent$/m)
  const broken: Fault = { begin: () => Promise.reject(new Error('it was not done')) }
  assert.deepEqual((await tried(t, plan, broken)).failures, ['it was not done'])
})

test('a trial that cannot be carried out has failed with the reason, and the next one is run', async () => {
  const plan = { ...planOf('target-change'), connections: 16 }
  const suite: Suite = { ...chaos, trials: [{ ...plan, id: 'unheard-of' }, plan] }
  const { trials, warnings } = await run(suite, { seconds: 3, isPinned: false })
  assert.deepEqual(
    trials.map(({ id, failures }) => [id, failures]),
    [
      ['unheard-of', ["it could not be carried out: nobody knows what is done in the trial 'unheard-of'"]],
      ['target-change', []],
    ],
    warnings.join(),
  )
})

test('every trial of the suites has a fault', () => {
  const ids = [...PLANS, ...(soak.trials ?? [])].map(({ id }) => id)
  assert.deepEqual(ids.toSorted(), Object.keys(FAULTS).toSorted())
})

test('without an Elasticsearch the command leaves its trials out, counts no records, and writes all reports', {
  skip: missingElasticsearch() === null && 'Elasticsearch is installed',
}, async (t) => {
  const dir = folder(t)
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

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-trial-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
