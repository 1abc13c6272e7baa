import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type GwProcess, gw, type Outcome, scratch, spawnGw, until } from '../testing.js'
import type { Mode } from './testing/recording-tools.js'
import { samplePoint, sampleSummary } from './testing/sample-summary.js'

const RECORDING_GW = fileURLToPath(new URL('testing/recording-gw.js', import.meta.url))

interface Recorded extends Outcome {
  readonly calls: readonly Record<string, unknown>[]
}

/** A folder of its own to run in, and the environment of tools that remember what they are told. */
class Desk {
  readonly dir: string
  readonly #file: string

  constructor(t: TestContext) {
    this.dir = scratch(t)
    this.#file = join(this.dir, 'calls.jsonl')
    writeFileSync(this.#file, '')
  }

  async run(args: readonly string[], mode: Mode = 'well'): Promise<Recorded> {
    const outcome = await gw(['bench', ...args], this.#options(mode))
    return { ...outcome, calls: this.calls() }
  }

  start(t: TestContext, args: readonly string[], mode: Mode): GwProcess {
    return spawnGw(t, ['bench', ...args], this.#options(mode))
  }

  calls(): Record<string, unknown>[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** A run on disk; `changed` is its age in seconds since 1970. */
  save(name: string, changed: number): string {
    const dir = join(this.dir, 'results', name)
    mkdirSync(dir, { recursive: true })
    const file = join(dir, 'summary.json')
    writeFileSync(file, JSON.stringify(sampleSummary([samplePoint()], { id: name })))
    utimesSync(file, changed, changed)
    return file
  }

  #options(mode: Mode) {
    const env = { RECORDING_MODE: mode, RECORDING_FILE: this.#file }
    return { env, cwd: this.dir, entry: RECORDING_GW }
  }
}

test('the options of a run reach the runner', async (t) => {
  const desk = new Desk(t)
  const line =
    'run apinizer --tier W1,W2 --scenario w1-get --scenario w2-get --connections 64,8 --seconds 7 --warm-up 2 ' +
    '--repetitions 4 --rates 90,50 --with nginx,haproxy --no-pin --out here'
  const { code, stdout, calls } = await desk.run(line.split(' '))
  assert.equal(code, 0)
  assert.deepEqual(calls, [
    {
      call: 'runSuite',
      suite: 'apinizer',
      cases: [
        { id: 'w1-get', connections: [8, 64] },
        { id: 'w2-get', connections: [8, 64] },
      ],
      isAborted: false,
      engine: 'autocannon',
      peers: ['nginx', 'haproxy'],
      warmUpSeconds: 2,
      seconds: 7,
      repetitions: 4,
      rateShares: [0.5, 0.9],
      scenarios: ['w1-get', 'w2-get'],
      connections: [8, 64],
      isPinned: false,
      command: `gw bench ${line}`,
    },
    { call: 'writeResults', dir: 'here', points: 2 },
  ])
  assert.equal(stdout, 'POINT   RPS\nw1-get  20000\nw2-get  20000\n')
})

test('without options a run is the whole suite with the usual rates, kept in a folder of its own', async (t) => {
  const desk = new Desk(t)
  const { code, stderr, calls } = await desk.run(['run', 'smoke'])
  const [run, written] = calls
  assert.deepEqual(
    [run?.['rateShares'], run?.['isPinned'], run?.['peers'], run?.['repetitions'], run?.['seconds']],
    [[0.5, 0.7, 0.8, 0.9], true, [], 1, 2],
  )
  assert.equal(written?.['dir'], 'results/smoke-1')
  assert.ok(existsSync(join(desk.dir, 'results/smoke-1/summary.json')))
  assert.match(stderr, /^smoke: 2 scenarios, 2 numbers of connections in all, about \d+s of load\n/)
  assert.match(stderr, /\nwarning: the machine is not quiet\n1\/2 get, 1 of 1, 1m 5s left\n/)
  assert.match(stderr, /\nwrote results\/smoke-1\/summary.json\n$/)
  assert.equal(code, 0)
})

test('a quick run asks every scenario once for seconds, and keeps what else is asked for', async (t) => {
  const desk = new Desk(t)
  const { calls } = await desk.run(['run', 'wso2-mi', '--quick', '--seconds', '5'])
  const run = calls[0]!
  const cases = run['cases'] as { connections: number[] }[]
  assert.ok(cases.length >= 8 && cases.every(({ connections }) => connections.length === 1))
  assert.deepEqual(
    [run['warmUpSeconds'], run['seconds'], run['repetitions'], run['rateShares']],
    [1, 5, 1, []],
  )
})

test('gw bench quick runs the smoke suite and writes nothing unless it is told where', async (t) => {
  const desk = new Desk(t)
  const first = await desk.run(['quick', '-o', 'json'])
  assert.deepEqual(
    first.calls.map(({ call }) => call),
    ['runSuite'],
  )
  const summary = JSON.parse(first.stdout)
  assert.deepEqual([summary.schemaVersion, summary.suite, summary.points.length], [1, 'smoke', 2])
  const second = await desk.run(['quick', '--out', 'kept'])
  assert.equal(second.calls.at(-1)?.['dir'], 'kept')
})

test('--quiet leaves out progress and messages', async (t) => {
  const { stdout, stderr } = await new Desk(t).run(['run', 'smoke', '--quiet'])
  assert.equal(stderr, '')
  assert.match(stdout, /^POINT /)
})

test('an engine that cannot hold a rate measures none, and refuses rates that are asked for', async (t) => {
  const desk = new Desk(t)
  const [usual, none, asked] = await Promise.all([
    desk.run(['run', 'smoke', '--engine', 'wrk', '--out', 'a']),
    desk.run(['run', 'smoke', '--engine', 'wrk', '--no-rates', '--out', 'b']),
    desk.run(['run', 'smoke', '--engine', 'wrk', '--rates', '50', '--out', 'c']),
  ])
  assert.match(
    usual.stderr,
    /^wrk cannot hold a rate, so latency at fixed rates is not measured; autocannon can\n/,
  )
  assert.doesNotMatch(none.stderr, /cannot hold/)
  assert.equal(asked.stderr, 'wrk cannot hold a rate; autocannon can, or write --no-rates\n')
  assert.deepEqual([usual.code, none.code, asked.code], [0, 0, 64])
  assert.ok(
    desk.calls().every(({ call, rateShares }) => call !== 'runSuite' || (rateShares as []).length === 0),
  )
})

const REFUSALS: readonly (readonly [string, Mode, number, RegExp])[] = [
  ['run smok', 'well', 64, /^there is no suite 'smok'; did you mean 'smoke'\? \(there are smoke, /],
  [
    'run apinizer-cache',
    'well',
    64,
    /^the suite 'apinizer-cache' is not available: needs the cache component\n/,
  ],
  [
    'run smoke --scenario gett',
    'well',
    64,
    /^the suite 'smoke' has no scenario 'gett'; did you mean 'get'\?\n/,
  ],
  [
    'run smoke --tier W1',
    'well',
    64,
    /^no scenario is left: those asked for are not of tier W1; see gw bench list/,
  ],
  [
    'run smoke --engine oha',
    'well',
    1,
    /^the load generator 'oha' is not on the PATH; .*--engine autocannon or wrk\n/,
  ],
  ['run smoke --with nginx,envoy', 'bare', 1, /^nginx is not on the PATH; .*\nenvoy is not on the PATH; /],
  ['run smoke --with apache', 'well', 64, /allowed choices are nginx, haproxy, envoy, with commas/],
  [
    'run smoke --connections 0',
    'well',
    64,
    /write a whole number from 1 to 100000; see gw bench run --help\n$/,
  ],
  ['run smoke --rates 50,101', 'well', 64, /write a whole number from 1 to 100; /],
  ['run smoke', 'empty', 1, /\nnothing was measured\n$/],
  ['run smoke', 'broken', 1, /\nthe gateway did not start on port 19000\n$/],
  ['policy heder', 'well', 64, /^no benchmark is there for a policy 'heder'; did you mean 'header'\?\n/],
  ['compare nowhere here', 'well', 1, /^cannot read the run nowhere: there is no such file\n/],
  ['compare a b --fail-if fast', 'well', 64, /^'fast' is not a limit; write for example rps<-5%\n/],
  ['capacity --rps 5', 'well', 1, /^no run is below results; measure with gw bench run apinizer, /],
  ['capacity --rps 5 --body big', 'well', 64, /^--body: 'big' is not a size; /],
  ['upstream --bytes many', 'well', 64, /^--bytes: 'many' is not a size; /],
  ['upstream --delay soon', 'well', 64, /^--delay: 'soon' is not a duration; /],
]

for (const [line, mode, exit, message] of REFUSALS) {
  test(`refused with ${exit} and a remedy: gw bench ${line} (${mode})`, async (t) => {
    const { code, stdout, stderr, calls } = await new Desk(t).run(line.split(' '), mode)
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [exit, ''])
    assert.ok(calls.every(({ call }) => call !== 'writeResults'))
  })
}

test('results are not written over those of another run, and that is told before anything is measured', async (t) => {
  const desk = new Desk(t)
  desk.save('old', 1)
  const { code, stderr, calls } = await desk.run(['run', 'smoke', '--out', 'results/old'])
  assert.deepEqual([code, calls], [1, []])
  assert.equal(stderr, 'results/old holds the results of another run; name another folder with --out\n')
})

test('results that cannot be written are still printed, and the command fails', async (t) => {
  const { code, stdout, stderr } = await new Desk(t).run(['run', 'smoke'], 'full')
  assert.match(stdout, /^POINT /)
  assert.match(stderr, /\nthe results could not be written to results\/smoke-1: no space left on device\n$/)
  assert.equal(code, 1)
})

test('a reader that goes away does not cost the results', async (t) => {
  const desk = new Desk(t)
  const running = desk.start(t, ['run', 'smoke'], 'patient')
  running.process.stdout.destroy()
  await until(() => running.stderr().includes('1/2 get'), running.stderr)
  running.process.kill('SIGTERM')
  assert.equal(await running.exited, 1)
  assert.match(running.stderr(), /\nwrote results\/smoke-1\/summary\.json\nstopped: .*\n$/)
})

test('a point that is no result is told; --fail-on-invalid makes it an assertion', async (t) => {
  const desk = new Desk(t)
  const [told, failed] = await Promise.all([
    desk.run(['quick'], 'invalid'),
    desk.run(['quick', '--fail-on-invalid'], 'invalid'),
  ])
  for (const { stderr } of [told, failed]) {
    assert.match(stderr, /\nno result: GET, sluice, 16 connections: the generator was the bottleneck\n/)
    assert.match(stderr, /\n2 of 2 points are no result\n$/)
  }
  assert.deepEqual([told.code, failed.code], [0, 7])
})

test('the first SIGINT ends with the repetition under way and keeps what was measured', async (t) => {
  const desk = new Desk(t)
  const running = desk.start(t, ['run', 'smoke'], 'patient')
  await until(() => running.stderr().includes('1/2 get'), running.stderr)
  running.process.kill('SIGINT')
  assert.equal(await running.exited, 1)
  assert.match(running.stderr(), /\nstopping after this repetition; once more stops at once\n/)
  assert.match(running.stderr(), /\nwrote results\/smoke-1\/summary\.json\nstopped: .*\n$/)
  assert.equal(running.stdout(), 'POINT  RPS\nget    20000\n')
  assert.equal(desk.calls().at(-1)?.['points'], 1)
})

test('the second SIGINT ends at once', async (t) => {
  const desk = new Desk(t)
  const running = desk.start(t, ['run', 'smoke'], 'deaf')
  await until(() => running.stderr().includes('1/2 get'), running.stderr)
  running.process.kill('SIGINT')
  await until(() => running.stderr().includes('once more stops at once'), running.stderr)
  running.process.kill('SIGINT')
  assert.equal(await running.exited, 1)
  assert.deepEqual(
    desk.calls().map(({ call }) => call),
    ['runSuite'],
  )
  assert.equal(running.stdout(), '')
})

test('gw bench policy measures the policy beside the same call without it, and says what it adds', async (t) => {
  const { code, stdout, calls } = await new Desk(t).run(['policy', 'body-limit', '--repetitions', '2'])
  const run = calls[0]!
  assert.deepEqual(
    (run['cases'] as { id: string }[]).map(({ id }) => id),
    ['base-post-1kb', 'body-limit-post-1kb'],
  )
  assert.deepEqual([run['suite'], run['repetitions'], run['rateShares']], ['policies', 2, []])
  assert.match(
    stdout,
    /\n\nbody-limit: \+0\.00 µs \(\+0\.0 %\) of CPU time a request, on 20\.0 µs without it; that is within/,
  )
  assert.equal(code, 0)
})

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
  assert.deepEqual(JSON.parse(failed.stdout), { schemaVersion: 1, failed: true, lines: ['old beside new'] })
  assert.deepEqual(
    desk.calls().map(({ limits }) => limits),
    [[], [{ text: 'rps<-5%' }]],
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

test('capacity takes the newest run, or the one that is named', async (t) => {
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
  const named = await desk.run(['capacity', '--rps', '10', '--from', 'results/old', '-o', 'json'])
  assert.deepEqual([newest.code, newest.stdout], [0, 'two of W2\n'])
  assert.equal(newest.stderr, 'from results/new/summary.json\n')
  assert.deepEqual(JSON.parse(named.stdout), { schemaVersion: 1, lines: ['two of W2'] })
  assert.deepEqual(desk.calls(), [
    { call: 'capacityFor', id: 'new', perSecond: 5000, bodyBytes: 5120, policies: ['header', 'api-key'] },
    { call: 'capacityFor', id: 'old', perSecond: 10, bodyBytes: null, policies: [] },
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
    /^SCENARIO +TITLE +LOG +PEERS +CONNECTIONS\nbase-get +GET, no policy +none +yes +64\n/,
  )
  const apinizer = JSON.parse(json.stdout).suites.find(({ name }: { name: string }) => name === 'apinizer')
  assert.deepEqual([apinizer.scenarios, apinizer.points], [24, 102])
})

test('doctor exits with 2 when something is amiss, and says what to do', async (t) => {
  const desk = new Desk(t)
  const [good, bad] = await Promise.all([desk.run(['doctor']), desk.run(['doctor'], 'bare')])
  assert.match(
    good.stdout,
    /^Sample CPU, 2 CPUs, 4 GB, Linux 6\.1\.0, Node\.js 20\.19\.0, CPU score 1000\n\nCHECK /,
  )
  assert.match(bad.stdout, /\nforeign work +amiss +end the other programs\n$/)
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
