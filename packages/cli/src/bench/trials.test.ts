import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Desk } from './testing/desk.js'
import { sampleSummary, sampleTrial } from './testing/sample-summary.js'

test('the options of a run of trials reach the runner', async (t) => {
  const line =
    'run chaos --scenario worker-kill --scenario elastic* --rates 40 --seconds 30 --warm-up 5 --connections 8 --no-pin --out here'
  const { code, stdout, stderr, calls } = await new Desk(t).run(line.split(' '))
  assert.equal(code, 0)
  const { command: _, ...told } = calls[0]!
  assert.deepEqual(told, {
    ...{ call: 'runSuite', suite: 'chaos', cases: [], isAborted: false, engine: 'autocannon', peers: [] },
    trials: ['elasticsearch-down', 'elasticsearch-slow', 'worker-kill'],
    ...{
      warmUpSeconds: 5,
      coolDownSeconds: 0,
      seconds: 30,
      repetitions: 1,
      rateShares: [0.4],
      sloMicros: null,
    },
    scenarios: ['elasticsearch-down', 'elasticsearch-slow', 'worker-kill'],
    ...{ connections: [8], isPinned: false, isMemoryLimited: true },
  })
  assert.match(stdout, /^TRIAL +VERDICT\nelasticsearch-down\nelasticsearch-slow\nworker-kill\n$/)
  assert.match(stderr, /^chaos: 3 trials, about 1m 45s of load\n/)
})

test('without options a soak is a day at 60 %, and a quick trial takes seconds', async (t) => {
  const desk = new Desk(t)
  await desk.run(['run', 'soak', '--out', 'a'])
  await desk.run(['run', 'chaos', '--quick', '--out', 'b'])
  const [soak, chaos] = desk.calls().filter(({ call }) => call === 'runSuite')
  assert.deepEqual([soak!['seconds'], soak!['rateShares'], soak!['trials']], [86_400, [0.6], ['soak']])
  assert.deepEqual([chaos!['seconds'], chaos!['warmUpSeconds'], chaos!['scenarios']], [6, 1, []])
  assert.equal((chaos!['trials'] as string[]).length, 8)
})

test('a trial that is not passed is told; --fail-on-invalid makes it an assertion', async (t) => {
  const desk = new Desk(t)
  const [told, failed, empty] = [
    await desk.run(['run', 'soak', '--out', 'a'], 'invalid'),
    await desk.run(['run', 'soak', '--out', 'b', '--fail-on-invalid'], 'invalid'),
    await desk.run(['run', 'soak', '--out', 'c'], 'empty'),
  ]
  assert.match(told.stderr, /\n1 of 1 trial is not passed\n$/)
  assert.match(told.stderr, /\nnot passed: soak: 3 records are lost\n/)
  assert.deepEqual([told.code, failed.code], [0, 7])
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /nothing was measured/)
})

test('a trial that is no result is told; --fail-on-invalid makes it an assertion', async (t) => {
  const desk = new Desk(t)
  const told = await desk.run(['run', 'soak', '--out', 'a'], 'bounded')
  const failed = await desk.run(['run', 'soak', '--out', 'b', '--fail-on-invalid'], 'bounded')
  assert.match(told.stderr, /\nno result: soak: only 9 of 600 requests\/s were sent during it\n/)
  assert.match(told.stderr, /\n1 of 1 trial is no result\n$/)
  assert.deepEqual([told.code, failed.code], [0, 7])
})

test('runs of trials are compared', async (t) => {
  const desk = new Desk(t)
  const file = desk.save('old', 1, sampleSummary([], { id: 'old', suite: 'chaos', trials: [sampleTrial()] }))
  const { code, stdout } = await desk.run(['compare', file, file, '-o', 'json'])
  const { points, trials } = JSON.parse(stdout)
  assert.deepEqual([code, points, trials.length, trials[0].after], [0, [], 1, 'passed'])
})

for (const [wrong, message] of [
  ['--with nginx', /--with is not for the trials of 'chaos'; choose them with --scenario, their load with/],
  ['--tier W1', /--tier is not for the trials/],
  ['--slo 50ms', /--slo is not for the trials/],
  ['--repetitions 2', /--repetitions is not for the trials/],
  ['--target http://127.0.0.1:1', /--target is not for the trials/],
  ['--no-rates', /--no-rates is not for trials: each has a load; write --rates 60/],
  ['--rates 50,60', /--rates: a trial has one load of at most 95 %, such as --rates 60/],
  ['--rates 100', /--rates: a trial has one load of at most 95 %/],
  ['--connections 8,16', /--connections: a trial has one number of connections, such as 128/],
  ['--scenario worker-kil', /the suite 'chaos' has no scenario 'worker-kil'; did you mean 'worker-kill'\?/],
] as const) {
  test(`${wrong} is refused for trials`, async (t) => {
    const { code, stderr, calls } = await new Desk(t).run(['run', 'chaos', ...wrong.split(' ')])
    assert.match(stderr, message)
    assert.deepEqual([code, calls], [64, []])
  })
}

test('the trials of a suite are listed with what is done', async (t) => {
  const desk = new Desk(t)
  const [table, json] = [await desk.run(['list', 'chaos']), await desk.run(['list', 'chaos', '-o', 'json'])]
  assert.match(
    table.stdout,
    /^TRIAL +WORKERS +LOG +CONNECTIONS +WHAT IS DONE\nelasticsearch-down +2 +elastic/,
  )
  const { suite, trials } = JSON.parse(json.stdout)
  assert.deepEqual([suite, trials.length, trials[6].id], ['chaos', 8, 'worker-kill'])
})
