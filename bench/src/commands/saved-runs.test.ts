import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gw, scratch } from '@sluice/cli/testing'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { writeResults } from '../report/results.js'
import { samplePoint, sampleSummary } from '../testing/samples.js'
import { costSentence } from './policy.js'

/** A folder with two runs below `results`: the later one is slower by a tenth. */
function folderOfRuns(t: TestContext): string {
  const cwd = scratch(t)
  const slower = samplePoint({ perSecond: spreadOf([18_000, 18_100, 17_900]) })
  writeResults(sampleSummary([samplePoint()]), join(cwd, 'results', 'old'))
  writeResults(sampleSummary([slower]), join(cwd, 'results', 'new'))
  return cwd
}

test('compare exits with 7 when a limit is exceeded, and takes folders and files', async (t) => {
  const cwd = folderOfRuns(t)
  const runs = ['results/old/summary.json', 'results/new']
  const fine = await gw(['bench', 'compare', ...runs], { cwd })
  assert.equal(fine.code, 0, fine.stderr)
  assert.match(fine.stdout, /rps {2}20,\d+ → 18,000 {2}−10\.\d %/)
  const failed = await gwInProcess(['bench', 'compare', ...runs, '--fail-if', 'rps<-5%', '-o', 'json'], {
    cwd,
  })
  assert.equal(failed.code, 7)
  const { isFailed, points } = JSON.parse(failed.stdout)
  assert.deepEqual([isFailed, points[0].name], [true, 'w1-get sluice 100 connections saturation'])
  const wrong = await gwInProcess(['bench', 'compare', ...runs, '--fail-if', 'fast'], { cwd })
  assert.match(wrong.stderr, /^'fast' is not a limit; use one of rps, /)
  assert.equal(wrong.code, 64)
})

test('report writes again into the folder of the run, and a run that is not there is reported', async (t) => {
  const cwd = folderOfRuns(t)
  const { code, stdout } = await gwInProcess(['bench', 'report', 'results/old'], { cwd })
  assert.deepEqual(
    [code, stdout],
    [0, 'results/old/summary.json\nresults/old/points.csv\nresults/old/report.html\n'],
  )
  const missing = await gwInProcess(['bench', 'report', 'nowhere'], { cwd })
  assert.deepEqual(
    [missing.code, missing.stderr],
    [1, 'cannot read the run nowhere: there is no such file\n'],
  )
})

test('capacity takes all runs below results, and says so where there is none', async (t) => {
  const cwd = folderOfRuns(t)
  const answer = await gwInProcess(['bench', 'capacity', '--rps', '5000', '-o', 'json'], { cwd })
  assert.equal(answer.stderr, 'from results/new, results/old\n')
  assert.equal(JSON.parse(answer.stdout).size === null, answer.code === 1)
  const none = await gwInProcess(['bench', 'capacity', '--rps', '5'], { cwd: scratch(t) })
  assert.match(none.stderr, /^no run is below results; measure with gw bench run apinizer --tier W1, /)
  assert.equal(none.code, 1)
})

test('a quick run prints its points beside those of a peer and writes where it is asked to', async (t) => {
  const cwd = scratch(t)
  const short = ['--seconds', '1', '--warm-up', '0', '--connections', '4', '--no-pin', '--out', 'out']
  const { code, stdout, stderr } = await gw(['bench', 'quick', ...short], { cwd, timeout: 120_000 })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /GET/)
  for (const name of ['summary.json', 'points.csv', 'report.html'])
    assert.ok(existsSync(join(cwd, 'out', name)), name)
  const { command, suite } = JSON.parse(readFileSync(join(cwd, 'out', 'summary.json'), 'utf8'))
  assert.equal(suite, 'smoke')
  assert.match(command, /^gw bench quick --seconds 1 /)
  const again = await gwInProcess(['bench', 'quick', ...short], { cwd })
  assert.equal(again.stderr, 'out contains the results of another run; choose another folder with --out\n')
  assert.equal(again.code, 1)
})

test('list names the suites, and the trials of one', async () => {
  const all = await gwInProcess(['bench', 'list'])
  assert.match(all.stdout, /^SUITE +SCENARIOS +POINTS +FULL RUN +WHAT IT MEASURES\nsmoke /)
  assert.match(all.stdout, /\napinizer-cache +16 +68 /)
  const trials = await gwInProcess(['bench', 'list', 'chaos'])
  assert.match(
    trials.stdout,
    /^TRIAL +WORKERS +LOG +CONNECTIONS +WHAT IS DONE\nelasticsearch-down +2 +elastic/,
  )
})

test('the cost of a policy has an interval over pairs, or is below what could be measured', () => {
  // The speed of the machine changes by tens of percent between pairs, and not within a pair.
  const speeds = [20, 31, 24, 40, 22, 35, 27]
  const summary = (added: readonly number[], changes: Partial<Point> = {}) => {
    const suite = { suite: 'policies', tier: null } as const
    const costs = speeds.map((micros, i) => micros + added[i % added.length]!)
    return sampleSummary([
      samplePoint({ ...suite, scenario: 'base-get', cpuMicrosPerRequest: spreadOf(speeds) }),
      samplePoint({
        ...{ ...suite, scenario: 'header-get', pairedWith: 'base-get' },
        ...{ cpuMicrosPerRequest: spreadOf(costs), ...changes },
      }),
    ])
  }
  const sentence = (...parts: Parameters<typeof summary>): string => costSentence('header', summary(...parts))
  assert.match(
    sentence([0.9, 1, 1.1]),
    /^header: \+0\.99 µs \(\+3\.5 %\) of CPU time per request, on 28\.4 µs without it; 95 % interval 0\.9\d to 1\.0\d µs$/,
  )
  assert.equal(sentence([0.9, 1, 1.1]), sentence([0.9, 1, 1.1]), 'the same run has the same interval')
  assert.match(
    sentence([-1, 1.1]),
    /^header: no measurable cost \(below 0\.\d+ µs of CPU time per request, 95 % interval −\d\.\d\d to 0\.\d\d µs\)/,
  )
  assert.match(sentence([-4.4, -4.3]), /^header: −4\.36 µs .*95 % interval −4\.\d\d to −4\.\d\d µs$/)
  // Without pairs the changes of the machine are part of the error.
  assert.match(sentence([0.9, 1, 1.1], { pairedWith: 'other' }), /no measurable cost \(below \d/)
  const few = summary([1])
  const short = few.points.map((point) => ({ ...point, cpuMicrosPerRequest: spreadOf([20, 21]) }))
  assert.match(
    costSentence('header', { ...few, points: short }),
    /the error is unknown, use at least --repetitions 5$/,
  )
  assert.match(
    costSentence('header', { ...few, points: few.points.slice(1) }),
    /^header: the cost is unknown, because /,
  )
})
