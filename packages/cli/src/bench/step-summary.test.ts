import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gw, scratch } from '../testing.js'
import { Desk } from './testing/desk.js'

test('in a CI job the report of a run is appended to what the job shows', async (t) => {
  const file = join(scratch(t), 'step.md')
  writeFileSync(file, 'before\n')
  const desk = new Desk(t, file)
  const run = await desk.run(['run', 'smoke'])
  assert.deepEqual([run.code, readFileSync(file, 'utf8')], [0, 'before\n# smoke-1\n\n'])
  await desk.run(['quick', '--out', 'kept'])
  assert.equal(readFileSync(file, 'utf8'), 'before\n# smoke-1\n\n# smoke-1\n\n')
})

test('a run that writes no reports, and a report that is written anew, add nothing', async (t) => {
  const file = join(scratch(t), 'step.md')
  const desk = new Desk(t, file)
  desk.save('old', 1)
  const codes = [
    (await desk.run(['quick'])).code,
    (await desk.run(['report', 'results/old'])).code,
    (await desk.run(['run', 'smoke'], 'full')).code,
  ]
  assert.deepEqual([codes, existsSync(file)], [[0, 0, 1], false])
})

test('a summary that cannot be written is told, and the run is none the worse', async (t) => {
  const file = join(scratch(t), 'folder')
  mkdirSync(file)
  const { code, stderr } = await new Desk(t, file).run(['run', 'smoke'])
  assert.equal(code, 0)
  assert.match(stderr, /\nwrote .*\nthe report could not be added to the summary of the job: EISDIR.*\n$/)
})

test('a summary that would be longer than the job may show stays as it is', async (t) => {
  const file = join(scratch(t), 'step.md')
  const before = 'x'.repeat(1024 * 1024)
  writeFileSync(file, before)
  const { code, stderr } = await new Desk(t, file).run(['run', 'smoke'])
  assert.equal(code, 0)
  assert.match(
    stderr,
    /\nthe report is too long for the summary of the job, which takes 1 MB; keep results\/smoke-1 /,
  )
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('a real run adds its real report, and names the files of its latencies', {
  timeout: 120_000,
}, async (t) => {
  const cwd = scratch(t)
  const env = { GITHUB_STEP_SUMMARY: join(cwd, 'step.md') }
  const line = 'bench run smoke --scenario get --quick --seconds 1 --warm-up 0 --out run'
  const { code, stderr } = await gw(line.split(' '), { cwd, env, timeout: 100_000 })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /\nwrote run\/summary\.json, .*, run\/latency\/get-16-sluice-saturation\.hgrm\n/)
  assert.ok(existsSync(join(cwd, 'run/latency/get-16-sluice-saturation.hgrm')))
  const report = readFileSync(join(cwd, 'run/report.md'), 'utf8')
  assert.equal(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'), `${report}\n`)
  assert.match(report, /\n\* Configuration: 1 document of the gateway, together [0-9a-f]{12}; /)
})
