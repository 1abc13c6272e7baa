import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { missingElasticsearch } from '../contestant/search-engine.js'
import { engineOf } from '../engine/engines.js'
import { mergeSpectra } from '../engine/spectrum.js'
import type { Suite } from '../model/scenario.js'
import type { Summary } from '../model/summary.js'
import { readSummary } from '../report/read-summary.js'
import { writeResults } from '../report/write-results.js'
import { suiteOf, suites } from '../suite/suites.js'
import { hostFacts } from './host.js'
import { suiteRunner } from './run-suite.js'
import { checkedEngine } from './testing/answer-check.js'
import { Notes, optionsOf } from './testing/small-suite.js'

const CONNECTIONS = 8

/** What stands for each suite. Few, because every scenario starts a gateway and an origin of its own. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  smoke: ['get'],
  apinizer: ['w2-post-5kb'],
  'apinizer-classic': ['b-post-5kb'],
  'wso2-mi': ['direct-api-100kb'],
  'wso2-platform': ['w2-10kb-set-header'],
  policies: ['base-get', 'api-key-get'],
}

// Whoever ends this file ends its servers, which are in groups of processes of their own.
process.once('SIGTERM', () => process.exit(1))

/** All runs are of one machine, and a look at it takes longer than any of them. */
const host = hostFacts()

/** A part of a suite as the options of `gw bench run` choose it, and so short that its figures say nothing. */
async function shortRun(suite: Suite, scenarios: readonly string[]): Promise<Summary> {
  const cases = suite.cases.map(({ scenario }) => ({ scenario, connections: [CONNECTIONS] }))
  const options = optionsOf(
    { ...suite, cases },
    { scenarios, warmUpSeconds: 0, seconds: 0.5, repetitions: 1 },
  )
  const checked = checkedEngine(
    engineOf('autocannon'),
    cases.map(({ scenario }) => scenario),
  )
  const summary = await suiteRunner(
    () => checked.engine,
    mergeSpectra,
    () => host,
  )(options, new Notes())
  assert.deepEqual(checked.wrongAnswers, [])
  assert.ok(checked.looks() >= scenarios.length)
  return summary
}

function assertMeasured(summary: Summary, scenarios: readonly string[]): void {
  assert.deepEqual(
    summary.points.map(({ scenario }) => scenario),
    scenarios,
  )
  for (const point of summary.points) {
    const { scenario, requests, errors, latency, cpuMicrosPerRequest, perSecond } = point
    assert.ok(requests > 0, `${scenario}: no request was completed`)
    assert.deepEqual(
      Object.entries(errors).filter(([, count]) => count > 0),
      [],
      scenario,
    )
    assert.ok(latency !== null && latency.count > 0, scenario)
    assert.ok(cpuMicrosPerRequest.mean > 0, scenario)
    // Head and body, both ways.
    assert.ok(point.receivedPerSecond! > 100 * perSecond.mean, scenario)
    assert.ok(point.sentPerSecond! > (20 + point.bodyBytes) * perSecond.mean, scenario)
    assert.equal(point.originDelayMs, 0)
  }
}

function assertWritten(t: TestContext, summary: Summary): void {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-short-run-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const files = writeResults(summary, dir)
  assert.equal(files.length, 6 + summary.points.filter(({ latency }) => latency?.hdr != null).length)
  for (const file of files) assert.ok(existsSync(file) && statSync(file).size > 0, file)
  assert.deepEqual(readSummary(join(dir, 'summary.json')).points, summary.points)
  const rows = readFileSync(join(dir, 'points.csv'), 'utf8').trim().split('\r\n')
  assert.equal(rows.length, 1 + summary.points.length)
}

// What has trials and no scenarios has short runs of its own (trial/run-trials.test.ts).
for (const suite of suites.filter(({ cases }) => cases.length > 0)) {
  test(`a short run of ${suite.name} measures calls that are answered well, and writes its report`, async (t) => {
    const scenarios = CHOICES[suite.name] ?? []
    assert.ok(scenarios.length > 0, 'a suite without a short run')
    const summary = await shortRun(suite, scenarios)
    assertMeasured(summary, scenarios)
    assertWritten(t, summary)
  })
}

test('a short run with the real load generator finds the highest rate within a limit', async (t) => {
  const suite = suiteOf('smoke')
  const options = optionsOf(suite, {
    ...{ scenarios: ['get'], warmUpSeconds: 0, seconds: 0.5, repetitions: 1, sloMicros: 2_000_000 },
  })
  const run = suiteRunner(engineOf, mergeSpectra, () => host)
  const summary = await run(options, new Notes())
  const [saturation, knee] = summary.points
  assert.deepEqual([summary.points.length, knee!.sloMicros], [2, 2_000_000])
  assert.ok(knee!.targetPerSecond! < saturation!.perSecond.mean && knee!.latency!.isCorrected)
  assertWritten(t, summary)
})

test('a short run of apinizer with its traffic log finds every request in Elasticsearch', async (t) => {
  const missing = missingElasticsearch()
  if (missing !== null) return t.skip(missing)
  const scenarios = ['w1-post-1kb-elasticsearch']
  const summary = await shortRun(suiteOf('apinizer'), scenarios)
  assertMeasured(summary, scenarios)
  assert.doesNotMatch(summary.points[0]!.invalid.join('\n'), /Elasticsearch|traffic log/)
  assertWritten(t, summary)
})
