import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { scratch } from '@sluice/cli/testing'
import { bodyOf } from '../engine/call-body.js'
import type { Engine, LoadOptions } from '../model/engine.js'
import { OURS } from '../model/run.js'
import type { Scenario } from '../model/scenario.js'
import type { Summary } from '../model/summary.js'
import { readSummary, writeResults } from '../report/results.js'
import { suites } from '../suite/suites.js'
import { partsOf, smallLoad } from '../testing/small-load.js'
import { Notes, optionsOf } from '../testing/small-suite.js'
import { runSuite } from './run-suite.js'

const CONNECTIONS = 8

/**
 * One scenario of each kind. Other scenarios differ only in routes and sizes, which suite/calls.test.ts covers. Each
 * scenario starts a gateway and an origin.
 */
const CHOICES = [
  ['apinizer', 'w2-post-5kb'],
  ['apinizer-cache', 'w1-put'],
  ['wso2-mi', 'direct-api-100kb'],
  ['policies', 'oauth2-introspection-get'],
] as const

// Whoever ends this file ends its servers, which are in groups of processes of their own.
process.once('SIGTERM', () => process.exit(1))

/** A scenario as the options of `gw bench run` choose it, and so short that its figures say nothing. */
async function shortRun(suiteName: string, id: string): Promise<Summary> {
  const suite = suites.find(({ name }) => name === suiteName)!
  const { scenario } = suite.cases.find((one) => one.scenario.id === id)!
  const cases = [{ scenario, connections: [CONNECTIONS] }]
  const options = optionsOf({ ...suite, cases }, { warmUpSeconds: 0, seconds: 0.5, repetitions: 1 })
  const checked = checkedEngine(smallLoad(), scenario)
  const summary = await runSuite(options, new Notes(), partsOf(checked.engine))
  assert.deepEqual(checked.wrongAnswers, [])
  assert.ok(checked.looks() >= 1)
  return summary
}

function assertMeasured(summary: Summary, id: string): void {
  const ours = summary.points.filter(({ system }) => system === OURS)
  assert.deepEqual(
    ours.map(({ scenario }) => scenario),
    [id],
  )
  for (const point of summary.points) {
    const { scenario, system, requests, errors, latency, cpuMicrosPerRequest } = point
    assert.ok(requests > 0, `${scenario}: no request was completed`)
    assert.deepEqual(
      Object.entries(errors).filter(([, count]) => count > 0),
      [],
      scenario,
    )
    // Of Redis, which stands beside a cache server, the load generator says no latency that can be merged.
    if (system === OURS) assert.ok(latency !== null && latency.count > 0, scenario)
    assert.ok(cpuMicrosPerRequest!.mean > 0, scenario)
  }
}

function assertWritten(t: TestContext, summary: Summary): void {
  const dir = scratch(t)
  const files = writeResults(summary, dir)
  assert.equal(files.length, 3)
  for (const file of files) assert.ok(existsSync(file) && statSync(file).size > 0, file)
  assert.deepEqual(readSummary(join(dir, 'summary.json')).points, summary.points)
  const rows = readFileSync(join(dir, 'points.csv'), 'utf8').trim().split('\r\n')
  assert.equal(rows.length, 1 + summary.points.length)
}

for (const [suite, id] of CHOICES) {
  test(`a short run of ${suite} measures calls that are answered well, and writes its report`, async (t) => {
    const summary = await shortRun(suite, id)
    assertMeasured(summary, id)
    assertWritten(t, summary)
  })
}

/** A load generator that looks at one whole answer before each load, because load generators count statuses only. */
function checkedEngine(engine: Engine, scenario: Scenario) {
  const wrongAnswers: string[] = []
  let looks = 0
  const run: Engine['run'] = async (options) => {
    const flaw = await answerFlaw(options, scenario)
    looks++
    if (flaw !== null) wrongAnswers.push(flaw)
    return engine.run(options)
  }
  return { engine: { ...engine, run }, looks: () => looks, wrongAnswers }
}

async function answerFlaw(
  { origin, call }: LoadOptions,
  { id, origin: expected }: Scenario,
): Promise<string | null> {
  const body = call.body === null ? null : bodyOf(call.body)
  const init = { method: call.method, headers: call.headers, body }
  const answer = await fetch(origin + call.path, { ...init, signal: AbortSignal.timeout(10_000) })
  const bytes = Buffer.from(await answer.arrayBuffer())
  // A cache server has nothing to say of a value that it keeps; what its load is compared with answers 200.
  const isKept = call.method === 'PUT' && answer.status === 204
  if (answer.status !== 200 && !isKept) return `${id}: status ${answer.status}`
  if (expected.answer === 'echo' && !bytes.equals(body ?? Buffer.alloc(0)))
    return `${id}: ${bytes.length} bytes came back that are not the ${body?.length ?? 0} bytes sent`
  if (expected.answer === 'fixed' && bytes.length !== expected.bytes)
    return `${id}: ${bytes.length} bytes in place of ${expected.bytes}`
  return null
}
