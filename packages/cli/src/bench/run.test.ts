import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../testing.js'
import { Desk } from './testing/desk.js'
import type { Mode } from './testing/recording-tools.js'

test('the options of a run reach the runner', async (t) => {
  const desk = new Desk(t)
  const line =
    'run apinizer --tier W1,W2 --scenario w1-get --scenario w2-get --connections 64,8 --seconds 7 --warm-up 2 ' +
    '--repetitions 4 --cool-down 3 --rates 90,50 --slo 50ms --with nginx,haproxy,envoy --no-pin --no-memory-limit --out here'
  const { code, stdout, stderr, calls } = await desk.run(line.split(' '))
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
      coolDownSeconds: 3,
      rateShares: [0.5, 0.9],
      sloMicros: 50_000,
      scenarios: ['w1-get', 'w2-get'],
      connections: [8, 64],
      isPinned: false,
      isMemoryLimited: false,
      command: `gw bench ${line}`,
    },
    { call: 'writeResults', dir: 'here', points: 6 },
  ])
  assert.match(stdout, /^POINT {3}RPS\nw1-get {2}20000\n/)
  assert.match(stderr, /^envoy is not on the PATH; install it\n/)
})

test('without options a run is the whole suite with the usual rates, kept in a folder of its own', async (t) => {
  const desk = new Desk(t)
  const { code, stderr, calls } = await desk.run(['run', 'smoke'])
  const [run, written] = calls
  assert.deepEqual(
    [run?.['rateShares'], run?.['isPinned'], run?.['peers'], run?.['repetitions'], run?.['seconds']],
    [[0.5, 0.7, 0.8, 0.9], true, [], 1, 2],
  )
  assert.deepEqual([run?.['coolDownSeconds'], run?.['isMemoryLimited']], [0, true])
  assert.equal(written?.['dir'], 'results/smoke-1')
  assert.ok(existsSync(join(desk.dir, 'results/smoke-1/summary.json')))
  assert.match(stderr, /^smoke: 2 scenarios, 2 numbers of connections in all, about \d+s of load\n/)
  assert.match(stderr, /\nwarning: the machine is not quiet\n1\/2 get, 1 of 1, 1m 5s left\n/)
  assert.match(stderr, /\nwrote results\/smoke-1\/summary.json\n$/)
  assert.equal(code, 0)
})

test('a URL is measured for a minute in all, and the report shows no value that may be a secret', async (t) => {
  const { code, calls } = await new Desk(t).run([
    ...['quick', 'http://127.0.0.1:8080/orders?id=1', '--pid', '7', '--connections', '8,16'],
    ...['-H', 'Authorization: Bearer s3cret', '--header=x-api-key: s3cret', '-H', 'accept: s3cret'],
    ...['--data', 's3cret', '--rates', '50'],
  ])
  assert.equal(code, 0)
  const run = calls[0]!
  assert.deepEqual(run['target'], { origin: 'http://127.0.0.1:8080', pid: 7 })
  assert.deepEqual(run['cases'], [{ id: 'target', connections: [8, 16] }])
  assert.deepEqual([run['seconds'], run['repetitions'], run['rateShares']], [20, 3, [0.5]])
  assert.doesNotMatch(String(run['command']), /s3cret/)
  assert.match(
    String(run['command']),
    /orders\?id=\*\*\*' .*'Authorization: \*\*\*'.*'accept: \*\*\*' --data '\*\*\*'/,
  )
})

test('a suite is run against an address in place of a gateway of our own', async (t) => {
  const { calls } = await new Desk(t).run(['run', 'smoke', '--target', 'http://10.0.0.7:8080', '--no-rates'])
  assert.deepEqual(calls[0]!['target'], { origin: 'http://10.0.0.7:8080', pid: null })
})

test('contestants are printed side by side below the points, also of a quick run', async (t) => {
  const { stdout } = await new Desk(t).run(['quick', '--with', 'nginx'])
  assert.match(stdout, /\n\nside by side\nPOINT +RATIO\nget +1\.02\npost-1kb +1\.02\nat 92 %\n$/)
  const alone = await new Desk(t).run(['quick'])
  assert.doesNotMatch(alone.stdout, /side by side/)
})

test('throughput is measured with a load generator of its own where one is named', async (t) => {
  const desk = new Desk(t)
  const { calls, stderr } = await desk.run(['run', 'smoke', '--saturation-engine', 'wrk', '--rates', '50'])
  const { engine, saturationEngine, rateShares } = calls[0]!
  assert.deepEqual([engine, saturationEngine, rateShares], ['autocannon', 'wrk', [0.5]])
  assert.doesNotMatch(stderr, /cannot hold/)
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

test('a pattern chooses all scenarios that match, also those that a whole run leaves out', async (t) => {
  const desk = new Desk(t)
  await desk.run([
    'run',
    'policies',
    '--scenario',
    'base-*-delay-10ms',
    '--scenario',
    'header-get',
    '--out',
    'a',
  ])
  await desk.run(['run', 'policies', '--out', 'b'])
  const [some, whole] = desk
    .calls()
    .filter(({ call }) => call === 'runSuite')
    .map(({ cases }) => cases as { readonly id: string; readonly connections: number[] }[])
  assert.deepEqual(
    some!.map(({ id }) => id),
    [
      'header-get',
      'base-get-delay-10ms',
      'base-post-1kb-delay-10ms',
      'base-post-5kb-delay-10ms',
      'base-post-50kb-delay-10ms',
      'base-post-1kb-xml-delay-10ms',
      'base-post-5kb-xml-delay-10ms',
      'base-post-50kb-xml-delay-10ms',
    ],
  )
  assert.ok(whole!.length > 5 && whole!.every(({ id }) => !/delay|-5kb|-50kb/.test(id)))
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
    /^wrk cannot hold a rate, so latency at fixed rates is not measured; autocannon can, beside --saturation-engine wrk\n/,
  )
  assert.doesNotMatch(none.stderr, /cannot hold/)
  assert.equal(
    asked.stderr,
    'wrk cannot hold a rate; autocannon can, beside --saturation-engine wrk, or write --no-rates\n',
  )
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
    /^the load generator 'oha' is not on the PATH; fetch oha, or write --engine autocannon or wrk\n/,
  ],
  [
    'run smoke --saturation-engine oha',
    'well',
    1,
    /^the load generator 'oha' is not on the PATH; fetch oha, or write --saturation-engine autocannon or wrk\n/,
  ],
  [
    'run smoke --saturation-engine ab',
    'well',
    64,
    /argument 'ab' is invalid; allowed choices are autocannon, wrk, /,
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
  ['run smoke --slo 50', 'well', 64, /^--slo: '50' is not a duration; write for example 250ms/],
  ['run smoke --slo 0ms', 'well', 64, /^--slo: write a time above 0, such as 50ms\n/],
  [
    'run smoke --slo 50ms --engine wrk',
    'well',
    64,
    /^wrk cannot hold a rate, which --slo needs; autocannon can, beside --saturation-engine wrk, or leave out --slo\n$/,
  ],
  ['run smoke', 'empty', 1, /\nnothing was measured\n$/],
  ['run smoke', 'broken', 1, /\nthe gateway did not start on port 19000\n$/],
  [
    'run smoke --scenario g.t*',
    'well',
    64,
    /^the suite 'smoke' has no scenario 'g\.t\*'; gw bench list smoke names them\n/,
  ],
  ['policy chain-header', 'well', 64, /^no benchmark is there for a policy 'chain-header'; .*chain-api-key-/],
  ['policy heder', 'well', 64, /^no benchmark is there for a policy 'heder'; did you mean 'header'\?\n/],
  ['quick ftp://a/', 'well', 64, /^ftp:\/\/ cannot be measured, only http:\/\/; /],
  [
    'quick https://a/',
    'well',
    64,
    /^https:\/\/ cannot be measured, only http:\/\/; point it at the listener/,
  ],
  ['quick a:80', 'well', 64, /^a:\/\/ cannot be measured|^'a:80' is no URL; write for example http:/],
  ['quick localhost', 'well', 64, /^'localhost' is no URL; write for example http:\/\//],
  ['quick http://u:p@a/', 'well', 64, /^credentials do not belong in a URL; write /],
  ['quick http://a/ --with nginx', 'well', 64, /^--with stands beside a gateway of our own: /],
  [
    'quick http://a/ -H nothing',
    'well',
    64,
    /^--header: a name, a colon and a value make a header; write for example /,
  ],
  ['quick http://a/ -H a:b -H A:c', 'well', 64, /^--header: A is there twice\n/],
  ['quick http://a/ -H connection:close', 'well', 64, /^--header: connection is for the load generator /],
  ['quick http://a/ --data a --body 1kb', 'well', 64, /^--data and --body exclude each other\n/],
  ['quick http://a/ --data a -X GET', 'well', 64, /^a GET has no body here; /],
  ['quick http://a/ --data @nowhere', 'well', 1, /^cannot read the body nowhere: there is no such file\n/],
  ['quick http://a/ -H @nowhere', 'well', 1, /^cannot read the headers nowhere: there is no such file\n/],
  ['quick http://a/ --body 65mb', 'well', 64, /^--body: 64 MB are the most\n/],
  ['quick http://a/ --pid 0', 'well', 64, /write a whole number from 1 to 4194304; /],
  ['quick --data a', 'well', 64, /^--data is for a URL; write it behind the command, /],
  ['run smoke --target http://a/b', 'well', 64, /^--target: write the address alone, such as http:\/\/a; /],
  ['run smoke --pid 7', 'well', 64, /^--pid names the process of a --target; /],
  ['loadgen a', 'well', 64, /^'a' is no URL; /],
  ['loadgen http://a/ --engine wrk --rate 5', 'well', 64, /^wrk cannot hold a rate; leave out --rate, /],
  ['loadgen http://a/ --engine oha', 'well', 1, /^the load generator 'oha' is not on the PATH; fetch oha, /],
  ['compare nowhere here', 'well', 1, /^cannot read the run nowhere: there is no such file\n/],
  ['compare a b --fail-if fast', 'well', 64, /^'fast' is not a limit; write for example rps<-5%\n/],
  ['capacity --rps 5', 'well', 1, /^no run is below results; measure with gw bench run apinizer --tier W1, /],
  ['capacity --rps 5 --policies headr', 'well', 64, /policy 'headr'; did you mean 'header'\?/],
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

test('a point whose CPU time alone is a result is told so, and fails with --fail-on-invalid all the same', async (t) => {
  const { code, stderr } = await new Desk(t).run(['quick', '--fail-on-invalid'], 'bounded')
  assert.match(stderr, /\nno result but for CPU time: GET, sluice, 16 connections: the generator was/)
  assert.match(stderr, /\n2 of 2 points are no result, but CPU time of 2 of them is\n$/)
  assert.equal(code, 7)
})

test('what a run leaves out is not announced', async (t) => {
  const desk = new Desk(t)
  const target = ['--quick', '--target', 'http://127.0.0.1:8080']
  const part = await desk.run(['run', 'apinizer', '--tier', 'W1', ...target])
  assert.match(part.stderr, /^apinizer: 3 scenarios, 3 numbers of connections in all, /)
  const nothing = await desk.run(['run', 'policies', '--scenario', 'api-key-get', ...target])
  assert.doesNotMatch(nothing.stderr, /^policies: /m)
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

test('gw bench policy measures a chain as it measures a policy', async (t) => {
  const { code, stdout, calls } = await new Desk(t).run(['policy', 'chain-ip-filter-basic-auth-header'])
  assert.deepEqual(
    (calls[0]!['cases'] as { id: string }[]).map(({ id }) => id),
    ['base-post-1kb', 'chain-ip-filter-basic-auth-header-post-1kb'],
  )
  assert.match(stdout, /\n\nchain ip-filter, basic-auth, header: \+0\.00 µs /)
  assert.equal(code, 0)
})
