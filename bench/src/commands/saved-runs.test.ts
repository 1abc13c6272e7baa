import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gw, scratch } from '@sluice/cli/testing'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import { spreadOf } from '../measure/point.js'
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

test('the cost of a policy is reported beside the spread of the repetitions', () => {
  const suite = { suite: 'policies' }
  const points = (base: number, withPolicy: number) => [
    samplePoint({
      ...suite,
      scenario: 'base-get',
      cpuMicrosPerRequest: spreadOf([base, base + 0.1, base - 0.1]),
    }),
    samplePoint({
      ...suite,
      scenario: 'header-get',
      cpuMicrosPerRequest: spreadOf([withPolicy, withPolicy]),
    }),
  ]
  const sentence = (...figures: [number, number]) => costSentence('header', sampleSummary(points(...figures)))
  assert.match(sentence(20, 21), /^header: \+1\.00 µs \(\+5\.0 %\) of CPU time a request, on 20 µs without/)
  assert.match(sentence(20, 20.01), /within the spread of the repetitions, so the cost is too small/)
  const alone = sampleSummary(points(20, 21).slice(1))
  assert.match(costSentence('header', alone), /^header: the cost is unknown, because /)
})
