import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { missingElasticsearch } from '../contestant/search-engine.js'
import { coreLayout } from '../measure/cores.js'
import { processTree } from '../measure/process-use.js'
import { suiteRunner } from '../measure/run-suite.js'
import { mergedSpectrum, smallLoad } from '../measure/testing/small-load.js'
import { Notes, optionsOf } from '../measure/testing/small-suite.js'
import type { RunOptions } from '../model/run.js'
import type { Suite } from '../model/scenario.js'
import type { Summary } from '../model/summary.js'
import type { Trial, TrialPlan } from '../model/trial.js'
import { readSummary } from '../report/read-summary.js'
import { chaos } from '../suite/chaos.js'
import { soak } from '../suite/soak.js'
import type { Deed } from './deed.js'
import { DEEDS } from './deeds/deeds.js'
import { upstreamErrors, upstreamSlow } from './deeds/upstream.js'
import { NOTHING_LOST } from './judgement.js'
import { NO_NAMES, OwnNames } from './own-names.js'
import { openTrialStage } from './stage.js'
import { runTrial } from './trial-run.js'

const PLANS = chaos.trials ?? []
const TIMES = { warmUpSeconds: 0.5, beforeSeconds: 1, duringSeconds: 2, afterSeconds: 2 }
/** A tenth of what a small load generator sees at saturation, so that a busy machine holds it. */
const OPTIONS: Partial<RunOptions> = { warmUpSeconds: 0.5, seconds: 4.5, rateShares: [0.1] }

function run(suite: Suite, changes: Partial<RunOptions> = {}, notes = new Notes()): Promise<Summary> {
  const runner = suiteRunner(() => smallLoad(), mergedSpectrum)
  return runner(optionsOf(suite, { ...OPTIONS, ...changes }), notes)
}

function withoutLog(plan: TrialPlan): TrialPlan {
  return { ...plan, log: 'none', connections: 64 }
}

/** A trial without a traffic log, with a load that is the same on every machine. */
async function trialOf(t: TestContext, id: string, deed = DEEDS.get(id)!()): Promise<Trial> {
  const plan = withoutLog(PLANS.find((one) => one.id === id)!)
  const trial = await tried(t, plan, deed)
  assert.deepEqual(trial.failures, [])
  assertWhole(trial)
  return trial
}

async function tried(t: TestContext, plan: TrialPlan, deed: Deed): Promise<Trial> {
  const order = { dir: folder(t), plan, wish: deed.wish ?? {}, layout: coreLayout(2, false) }
  const { signal } = new AbortController()
  const stage = await openTrialStage({ ...order, searchEngine: null, signal })
  try {
    return await runTrial({ plan, deed, stage, times: TIMES, saturationPerSecond: 1000, perSecond: 300 })
  } finally {
    await stage.close()
  }
}

/** What holds for every trial. */
function assertWhole({ requests, answers, errors, phases, ...rest }: Trial): void {
  const answered = Object.values(answers).reduce((sum, count) => sum + count, 0)
  assert.equal(answered + errors.reset + errors.timeout, requests, 'every request ended in one way')
  assert.deepEqual(
    phases.map(({ name }) => name),
    ['before', 'during', 'after'],
  )
  assert.ok(phases.every((phase) => phase.requests > 0 && phase.p99Micros! >= phase.p50Micros!))
  assert.ok(rest.actedToSeconds > rest.actedFromSeconds)
  assert.ok(rest.targetPerSecond >= 1 && rest.targetPerSecond <= rest.saturationPerSecond)
}

test('of an upstream that answers 5 % with 500 just these arrive', async (t) => {
  const { upstreamErrors: arrived, gatewayErrors, origin } = await trialOf(t, 'upstream-errors')
  assert.ok(arrived > 0)
  assert.deepEqual([arrived, gatewayErrors], [origin.failed, 0])
})

test('of an upstream that is too slow for 1 % just these are errors of the gateway, and nothing is asked twice', async (t) => {
  const {
    gatewayErrors,
    upstreamErrors: arrived,
    origin,
    requests,
  } = await trialOf(t, 'upstream-slow', upstreamSlow(5000))
  assert.ok(gatewayErrors > 0)
  assert.deepEqual([gatewayErrors, arrived, origin.requests], [origin.slow, 0, requests])
})

test('a name that means another address is followed, and no request is lost', async (t) => {
  const dir = folder(t)
  if (OwnNames.in(dir, '127.0.0.1') === null) return t.skip(NO_NAMES)
  const { origin, requests, connections } = await trialOf(t, 'dns-change')
  assert.equal(origin.requests, requests)
  assert.ok(origin.stray <= connections)
})

test('a deploy that names another target loses no request', async (t) => {
  const { origin, requests } = await trialOf(t, 'target-change')
  assert.deepEqual([origin.requests, origin.stray], [requests, 0])
})

test('a killed worker costs what was under way at most, and another takes its place', async (t) => {
  const { newWorkers, errors, connections } = await trialOf(t, 'worker-kill')
  assert.equal(newWorkers, 1)
  assert.ok(errors.reset <= connections)
})

test('workers that are replaced one after the other lose no request', async (t) => {
  const { newWorkers, errors } = await trialOf(t, 'rolling-restart')
  assert.equal(newWorkers, 2)
  assert.deepEqual(errors, { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 })
})

test('a short soak reloads, and tells of memory and files', async () => {
  const notes = new Notes()
  const { trials, warnings, points, host } = await run(soak, {}, notes)
  const [trial] = trials!
  assert.deepEqual([points, Object.keys(host.documents ?? {})], [[], ['soak']])
  assert.deepEqual(trial!.failures, [], warnings.join())
  assertWhole(trial!)
  const figures = trial!.soak!
  assert.ok(figures.reloads >= 2 && figures.failedReloads === 0)
  assert.ok(figures.samples > 3 && figures.heap!.bytes > 1e6 && figures.heap!.bytesPerHourError > 0)
  assert.ok(figures.rssBytes.every((bytes) => bytes > 1e7) && figures.files.every((count) => count > 10))
  assert.deepEqual(notes.steps, ['soak'])
})

test('a soak that is stopped is no result, tells what was seen until then, and leaves nothing running', async () => {
  const stop = new AbortController()
  const notes = new Notes(() => setTimeout(() => stop.abort(), 4000))
  const { trials, warnings } = await run(soak, { seconds: 3600, signal: stop.signal }, notes)
  assert.equal(trials!.length, 1)
  assert.ok(trials![0]!.actedToSeconds < 600)
  assert.match(trials![0]!.invalid!.join(), /^it was stopped after \d+ of 3600 s$/)
  assert.ok(warnings.includes('the run was stopped before its end'))
  assert.deepEqual(processTree(process.pid).slice(1), [])
})

test('an Elasticsearch that is killed, or stands still, and a worker that is killed cost no record that may not be lost', {
  skip: missingElasticsearch() ?? false,
}, async () => {
  const ids = ['elasticsearch-down', 'elasticsearch-slow', 'worker-kill']
  const { trials, warnings } = await run(chaos, { scenarios: ids })
  assert.deepEqual(
    trials!.map(({ id, failures }) => [id, failures]),
    ids.map((id) => [id, []]),
    warnings.join(),
  )
  for (const { log, requests, deliveredSeconds } of trials!.slice(0, 2)) {
    assert.deepEqual(log, { documents: requests, dead: 0, dropped: 0, repeated: 0, missing: 0 })
    assert.ok(deliveredSeconds! > 0)
  }
  assert.ok(trials![2]!.log!.documents > 0)
})

/** Does what it says, and is judged as if nothing had been to be lost. */
function unforgiven(deed: Deed): Deed {
  return { ...deed, expects: () => NOTHING_LOST }
}

test('a trial that loses something fails, and so does one whose deed cannot be done', async (t) => {
  const plan = withoutLog(PLANS[0]!)
  const failed = await tried(t, plan, unforgiven(upstreamErrors()))
  assert.match(failed.failures.join('\n'), /^\d+ errors of the upstream arrived, 0 were sent$/m)
  const broken: Deed = {
    begin: () => Promise.reject(new Error('the deed was not done')),
    end: async () => {},
    expects: () => NOTHING_LOST,
  }
  assert.deepEqual((await tried(t, plan, broken)).failures, ['the deed was not done'])
})

test('every trial of the suites has a deed', () => {
  const ids = [...PLANS, ...(soak.trials ?? [])].map(({ id }) => id)
  assert.deepEqual(ids.toSorted(), [...DEEDS.keys()].toSorted())
})

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-trial-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const GW = fileURLToPath(new URL('../../../packages/cli/bin/gw.mjs', import.meta.url))
const execute = promisify(execFile)

test('without an Elasticsearch the command leaves its trials out, counts no records, and writes all reports', async (t) => {
  const dir = folder(t)
  const { SLUICE_ELASTICSEARCH_HOME: _, GITHUB_STEP_SUMMARY: __, ...env } = process.env
  const line = 'bench run chaos --quick --scenario upstream-errors --scenario elasticsearch-slow --rates 20'
  const { stdout, stderr } = await execute(process.execPath, [GW, ...line.split(' '), '--out', dir], { env })
  assert.match(
    stderr,
    /^warning: no Elasticsearch is installed; .*; left out: elasticsearch-slow; no records/m,
  )
  assert.match(stdout, /^upstream errors .* – .* passed$/m)
  const { trials } = readSummary(join(dir, 'summary.json'))
  assert.deepEqual(
    trials!.map(({ id, log, failures }) => [id, log, failures]),
    [['upstream-errors', null, []]],
  )
  for (const name of ['report.md', 'report.html', 'junit.xml'])
    assert.match(readFileSync(join(dir, name), 'utf8'), /upstream errors/)
})
