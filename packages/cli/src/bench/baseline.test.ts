import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Desk } from './testing/desk.js'
import { sampleSummary, sampleTrial } from './testing/sample-summary.js'

test('a run is kept under a name, listed, compared with and forgotten', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1)
  desk.save('new', 2)
  const saved = await desk.run(['baseline', 'save', 'results/old'])
  assert.deepEqual([saved.code, saved.stdout], [0, 'baselines/main.json\n'])
  const listed = await desk.run(['baseline', 'list'])
  assert.match(listed.stdout, /^NAME +SUITE +MEASURED +RESULTS +RUN\nmain .* 1 point +old\n$/)
  const compared = await desk.run(['compare', '--baseline', 'main', 'results/new'])
  assert.deepEqual([compared.code, compared.stdout], [0, 'old beside new\n'])
  const sized = await desk.run(['capacity', '--rps', '10'])
  assert.equal(sized.stderr, 'from results/new, results/old\n')
  assert.equal((await desk.run(['baseline', 'remove', 'main'])).code, 0)
  assert.equal(existsSync(join(desk.dir, 'baselines/main.json')), false)
  assert.deepEqual(JSON.parse((await desk.run(['baseline', 'list', '-o', 'json'])).stdout).baselines, [])
})

test('the list of baselines says how many trials a run of trials has', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1, sampleSummary([], { id: 'old', trials: [sampleTrial(), sampleTrial({ id: 'soak' })] }))
  await desk.run(['baseline', 'save', 'results/old'])
  assert.match((await desk.run(['baseline', 'list'])).stdout, /\nmain .* 2 trials +old\n$/)
  const { baselines } = JSON.parse((await desk.run(['baseline', 'list', '-o', 'json'])).stdout)
  assert.deepEqual([baselines[0].points, baselines[0].trials], [0, 2])
})

test('a baseline is replaced only by force', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1)
  desk.save('new', 2)
  await desk.run(['baseline', 'save', 'results/old', '--name', 'v1.2'])
  const refused = await desk.run(['baseline', 'save', 'results/new', '--name', 'v1.2'])
  assert.equal(refused.code, 1)
  assert.equal(refused.stderr, "there is a baseline 'v1.2' already; write --force to replace it\n")
  await desk.run(['baseline', 'save', 'results/new', '--name', 'v1.2', '--force'])
  assert.match((await desk.run(['baseline', 'list'])).stdout, /\nv1\.2 .* new\n$/)
})

const REFUSALS: readonly (readonly [string, number, RegExp])[] = [
  ['baseline save results/old --name ../x', 64, /^'\.\.\/x' is no name for a baseline; /],
  ['baseline save nowhere', 1, /^cannot read the run nowhere: there is no such file\n/],
  [
    'baseline remove main',
    1,
    /^there is no baseline 'main' in baselines; gw bench baseline save makes one\n/,
  ],
  ['baseline remove a/b', 64, /^'a\/b' is no name for a baseline; /],
  ['compare --baseline other results/old', 1, /^there is no baseline 'other' in baselines; /],
  ['compare results/old', 64, /^name two runs, or one and --baseline, such as /],
  ['compare a b c', 64, /^name two runs, or one and --baseline, such as /],
]

for (const [line, exit, message] of REFUSALS) {
  test(`refused with ${exit} and a remedy: gw bench ${line}`, async (t) => {
    const desk = new Desk(t)
    desk.save('old', 1)
    const { code, stdout, stderr } = await desk.run(line.split(' '))
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [exit, ''])
  })
}
