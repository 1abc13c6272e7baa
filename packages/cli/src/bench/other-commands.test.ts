import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../testing.js'
import { Desk } from './testing/desk.js'

test('compare exits with 7 when a limit is exceeded, and takes folders and files', async (t) => {
  const desk = new Desk(t)
  const file = desk.save('old', 1)
  desk.save('new', 2)
  const fine = await desk.run(['compare', file, 'results/new'])
  const failed = await desk.run([
    'compare',
    'results/old',
    'results/new',
    '--fail-if',
    'rps<-5%',
    '-o',
    'json',
  ])
  assert.deepEqual([fine.code, fine.stdout, fine.stderr], [0, 'old beside new\n', ''])
  assert.equal(failed.code, 7)
  const { failed: isFailed, points, onlyAfter, lines } = JSON.parse(failed.stdout)
  assert.deepEqual([isFailed, onlyAfter, lines], [true, ['w2-get'], ['old beside new']])
  assert.deepEqual([points[0].name, points[0].changes[0].after, 'before' in points[0]], ['w1-get', 2, false])
  await desk.run(['compare', file, 'results/new', '--partial'])
  assert.deepEqual(
    desk.calls().map(({ limits, isPartial }) => [limits, isPartial]),
    [
      [[], false],
      [[{ metric: 'rps', direction: '<', change: -0.05, text: 'rps<-5%' }], false],
      [[], true],
    ],
  )
})

test('report writes into the folder of the run', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1)
  for (const path of ['results/old', 'results/old/summary.json']) {
    const { code, stdout } = await desk.run(['report', path])
    assert.deepEqual([code, stdout], [0, 'results/old/summary.json\n'])
  }
})

test('what has nothing to answer from exits with 1', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1)
  const compared = await desk.run(['compare', 'results/old', 'results/old'], 'empty')
  const sized = await desk.run(['capacity', '--rps', '10', '--from', 'results/old'], 'empty')
  assert.deepEqual([compared.code, sized.code, sized.stdout], [1, 1, 'no answer\n'])
})

test('capacity takes all runs below results, or those that are named', async (t) => {
  const desk = new Desk(t)
  desk.save('new', 2000)
  desk.save('old', 1000)
  const newest = await desk.run([
    'capacity',
    '--rps',
    '5000',
    '--body',
    '5k',
    '--policies',
    'header, api-key',
  ])
  const one = ['--from', 'results/old', '-o', 'json', '--connections', '9']
  const named = await desk.run(['capacity', '--rps', '10', ...one])
  const two = ['--from', 'results', '--from', 'results/old/summary.json']
  await desk.run(['capacity', '--rps', '10', ...two])
  assert.deepEqual([newest.code, newest.stdout], [0, 'two of W2\n'])
  assert.equal(newest.stderr, 'from results/new, results/old\n')
  const answer = JSON.parse(named.stdout)
  assert.deepEqual([answer.schemaVersion, answer.lines, answer.size.replicas], [1, ['two of W2'], 2])
  assert.deepEqual(desk.calls(), [
    {
      ...{ call: 'capacityFor', ids: ['new', 'old'], perSecond: 5000, bodyBytes: 5120 },
      policies: ['header', 'api-key'],
    },
    { call: 'capacityFor', ids: ['old'], perSecond: 10, bodyBytes: null, policies: [], connections: 9 },
    { call: 'capacityFor', ids: ['new', 'old', 'old'], perSecond: 10, bodyBytes: null, policies: [] },
  ])
})

test('list names the suites, what is missing for those that wait, and the scenarios of one', async (t) => {
  const desk = new Desk(t)
  const [all, one, json] = await Promise.all([
    desk.run(['list']),
    desk.run(['list', 'policies']),
    desk.run(['list', '-o', 'json']),
  ])
  assert.match(all.stdout, /^SUITE +SCENARIOS +POINTS +FULL RUN +WHAT IT MEASURES\nsmoke /)
  assert.match(all.stdout, /\napinizer-cache +- +- +- +not available: needs the cache component /)
  assert.match(
    one.stdout,
    /^SCENARIO +TITLE +MEASURED +LOG +PEERS +CONNECTIONS\nbase-get +GET, no policy +always +none +yes +64\n/,
  )
  assert.match(one.stdout, /\nbase-post-5kb +POST 5 KB, no policy +if named +none +yes +64\n/)
  const apinizer = JSON.parse(json.stdout).suites.find(({ name }: { name: string }) => name === 'apinizer')
  assert.deepEqual([apinizer.scenarios, apinizer.points], [24, 102])
})

test('doctor exits with 2 when something is amiss, and says what to do', async (t) => {
  const desk = new Desk(t)
  const [good, bad] = await Promise.all([desk.run(['doctor']), desk.run(['doctor'], 'bare')])
  assert.match(
    good.stdout,
    /^Sample CPU, 2 CPUs, 4 GB, Linux 6\.1\.0, Node\.js 20\.19\.0 with V8 11\.3, CPU score 1000\nmeasured code: commit c0ffee, with changes that are not committed\n\nCHECK /,
  )
  assert.match(bad.stdout, /\nforeign work +warning +40 % +end the other programs\n$/)
  assert.deepEqual([good.code, bad.code], [0, 2])
})

test('upstream runs the origin until it is told to end', async (t) => {
  const desk = new Desk(t)
  const line = 'upstream --listen 127.0.0.1:9 --bytes 1kb --delay 10ms --echo'
  const running = desk.start(t, line.split(' '), 'well')
  await until(() => running.stdout() === 'origin on http://127.0.0.1:9\n', running.stderr)
  running.process.kill('SIGINT')
  assert.equal(await running.exited, 0)
  assert.deepEqual(desk.calls(), [
    { call: 'startOrigin', answer: 'echo', bytes: 1024, delayMs: 10, address: '127.0.0.1:9' },
  ])
})
