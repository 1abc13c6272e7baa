import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Failure } from '@sluice/cli/kit'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import { engineOf } from '../engine/engines.js'
import { missingPeer } from '../servers/peers.js'
import { urlSuite } from '../suite/quick.js'
import { type CallFlags, callOf, originOf } from './call.js'
import { loadSeconds } from './load-seconds.js'
import { knownPair } from './policy.js'
import { namedSuite } from './run.js'
import { type ChoiceFlags, chosenSuite, type MeasuringFlags, runOptions, USUAL_RATES } from './run-options.js'

type Flags = MeasuringFlags & ChoiceFlags

const USUAL: MeasuringFlags = { engine: 'autocannon', pin: true, output: 'table' }

function optionsOf(name: string, changes: Partial<Flags> = {}) {
  const flags = { ...USUAL, ...changes }
  return runOptions(chosenSuite(namedSuite(name), flags), flags, USUAL_RATES)
}

function casesOf(name: string, changes: Partial<Flags>): string[] {
  return optionsOf(name, changes).suite.cases.map(
    ({ scenario, connections }) => `${scenario.id} ${connections.join(' ')}`,
  )
}

function refused(act: () => unknown, message: RegExp, exit = 64): void {
  assert.throws(act, (error: unknown) => {
    assert.ok(error instanceof Failure, String(error))
    assert.match(error.message, message)
    assert.equal(error.exit, exit)
    return true
  })
}

test('without options a run is the whole suite with its times, at the usual rates', () => {
  const { suite, repetitions, seconds, rateShares, peers, target, isPinned } = optionsOf('smoke')
  assert.deepEqual(suite.cases, namedSuite('smoke').cases)
  assert.deepEqual([repetitions, seconds], [suite.repetitions, suite.seconds])
  assert.deepEqual([rateShares, peers, target, isPinned], [[0.5, 0.7, 0.8, 0.9], [], null, true])
})

test('the options of a run take the place of what its suite says', () => {
  const { suite, ...options } = optionsOf('apinizer', {
    ...{ tier: ['W1'], scenario: ['w1-get', 'w2-get'], connections: [8, 64], seconds: 70, warmUp: 2 },
    ...{ repetitions: 4, rates: [50], target: 'http://10.0.0.7:8080', pid: 7, pin: false },
  })
  assert.deepEqual(
    suite.cases.map(({ scenario, connections }) => [scenario.id, connections]),
    [['w1-get', [8, 64]]],
  )
  const { seconds, warmUpSeconds, repetitions, coolDownSeconds, rateShares, isPinned, target } = options
  assert.deepEqual([seconds, warmUpSeconds, repetitions, coolDownSeconds], [70, 2, 4, 5])
  assert.deepEqual([rateShares, isPinned], [[0.5], false])
  assert.deepEqual(target, { origin: 'http://10.0.0.7:8080', pid: 7 })
})

test('a pattern chooses all scenarios that match, also those that a whole run leaves out', () => {
  const some = casesOf('policies', { scenario: ['base-*-delay-10ms', 'header-get'] })
  assert.ok(some.length > 2 && some.every((id) => /^(base-.*-delay-10ms|header-get) /.test(id)))
  const whole = casesOf('policies', {})
  assert.ok(whole.length > 5 && whole.every((id) => !/delay|-5kb|-50kb/.test(id)))
})

test('a quick run asks every scenario once for seconds, and keeps what else is asked for', () => {
  const options = optionsOf('wso2-mi', { quick: true, seconds: 5 })
  assert.ok(options.suite.cases.length >= 8)
  assert.ok(options.suite.cases.every(({ connections }) => connections.length === 1))
  assert.deepEqual([options.warmUpSeconds, options.seconds, options.repetitions], [1, 5, 1])
})

test('trials have one load, 60 % where none is named', () => {
  const chaos = optionsOf('chaos', { scenario: ['worker-kill', 'elasticsearch-*'], connections: [8] })
  const ids = chaos.suite.trials!.map(({ id, connections }) => [id, connections])
  assert.deepEqual(ids, [
    ['elasticsearch-down', 8],
    ['elasticsearch-slow', 8],
    ['worker-kill', 8],
  ])
  assert.deepEqual(chaos.rateShares, [0.6])
  assert.deepEqual(optionsOf('soak', { rates: [40] }).rateShares, [0.4])
})

const REFUSED: readonly (readonly [suite: string, flags: Partial<Flags>, message: RegExp])[] = [
  ['smok', {}, /^there is no suite 'smok'; did you mean 'smoke'\?/],
  ['smoke', { scenario: ['gett'] }, /^the suite 'smoke' has no scenario 'gett'; did you mean 'get'\?$/],
  ['smoke', { scenario: ['g.t*'] }, /has no scenario 'g\.t\*'; gw bench list smoke names them$/],
  [
    'smoke',
    { tier: ['W1'] },
    /^no scenario matches: the selected ones do not have tier W1; see gw bench list/,
  ],
  ['smoke', { target: 'http://a/b' }, /^--target: use only the address, such as http:\/\/a; /],
  ['smoke', { pid: 7 }, /^--pid names the process of a target; /],
  ['chaos', { with: ['nginx'] }, /^--with is not for the trials of 'chaos'; choose them with --scenario/],
  ['chaos', { target: 'http://127.0.0.1:1' }, /^--target is not for the trials/],
  ['chaos', { slo: '50ms' }, /^--slo is not for the trials/],
  ['chaos', { rates: false }, /^--rates: a trial takes a single rate of at most 95 %, such as --rates 60$/],
  ['chaos', { rates: [50, 60] }, /^--rates: a trial takes a single rate/],
  ['chaos', { rates: [100] }, /^--rates: a trial takes a single rate/],
  ['chaos', { connections: [8, 16] }, /^--connections: a trial has one number of connections/],
  ['chaos', { scenario: ['worker-kil'] }, /has no scenario 'worker-kil'; did you mean 'worker-kill'\?/],
]

for (const [name, flags, message] of REFUSED) {
  test(`refused: ${name} with ${JSON.stringify(flags)}`, () => refused(() => optionsOf(name, flags), message))
}

test('an engine that is not there, or cannot hold a rate, is reported with the remedy', (t) => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nonexistent'
  t.after(() => {
    process.env['PATH'] = path
  })
  refused(() => optionsOf('smoke', { engine: 'wrk' }), /^the load generator 'wrk' is not installed; /, 1)
  const missing = missingPeer('haproxy')
  if (missing !== null) refused(() => optionsOf('smoke', { with: ['haproxy'] }), /^haproxy|HAProxy/, 1)
})

test('a cost is reported of policies that have benchmarks', () => {
  assert.equal(knownPair('header').withPolicy.id, 'header-get')
  refused(() => knownPair('heder'), /^there is no benchmark for the policy 'heder'; did you mean 'header'\?$/)
})

test('how long a run takes is known before it begins', () => {
  const smoke = optionsOf('smoke', { rates: false })
  const points = smoke.suite.cases.reduce((sum, { connections }) => sum + connections.length, 0)
  const least = points * (smoke.warmUpSeconds + smoke.seconds * smoke.repetitions)
  const seconds = loadSeconds(smoke)
  assert.ok(seconds > least && seconds < least * 2)
  assert.ok(loadSeconds({ ...smoke, peers: ['nginx'] }) > seconds)
})

const CALLS: readonly (readonly [url: string, flags: CallFlags, message: RegExp])[] = [
  ['ftp://a/', {}, /^ftp:\/\/ cannot be measured, only http:\/\/; /],
  ['https://a/', {}, /^https:\/\/ cannot be measured, only http:\/\/; point it at the listener/],
  ['localhost', {}, /^'localhost' is not a URL; use for example http:\/\//],
  ['http://u:p@a/', {}, /^credentials do not belong in a URL; write /],
  ['http://a/', { header: ['nothing'] }, /^--header: a header is a name, a colon and a value; /],
  ['http://a/', { header: ['a:b', 'A:c'] }, /^--header: A is there twice$/],
  ['http://a/', { header: ['connection:close'] }, /^--header: connection is set by the load generator/],
  ['http://a/', { data: 'a', body: '1kb' }, /^--data and --body cannot be used together$/],
  ['http://a/', { data: 'a', method: 'GET' }, /^a GET has no body here; /],
  ['http://a/', { body: '65mb' }, /^--body: at most 64 MB$/],
  ['http://a/', { body: 'big' }, /^--body: 'big' is not a size; /],
]

for (const [url, flags, message] of CALLS) {
  test(`refused: ${url} ${JSON.stringify(flags)}`, () => refused(() => callOf(url, flags), message))
}

test('a call is what the URL and its options say', () => {
  const { origin, call } = callOf('http://127.0.0.1:8080/orders?id=1', { body: '1kb', header: ['x-a: b'] })
  assert.equal(origin, 'http://127.0.0.1:8080')
  assert.deepEqual(call, {
    ...{ method: 'POST', path: '/orders?id=1', body: { kind: 'json', bytes: 1024 } },
    headers: { 'content-type': 'application/json', 'x-a': 'b' },
  })
  refused(() => callOf('http://a/', { data: '@nowhere' }), /^cannot read the body nowhere: /, 1)
  assert.equal(originOf('http://a/', '--target'), 'http://a')
  assert.match(urlSuite(call).cases[0]!.scenario.title, /^POST \/orders\?id=\*\*\*$/)
})

test('--jtl needs the load generator that reports requests, and a folder', async () => {
  refused(
    () => optionsOf('smoke', { jtl: true, engine: 'wrk' }),
    /^(?:--jtl: only autocannon|the load generator)/,
    engineOf('wrk').version() === null ? 1 : 64,
  )
  const { code, stderr } = await gwInProcess(['bench', 'quick', '--jtl'])
  assert.deepEqual([code, stderr], [64, '--jtl requires points and a folder for the reports; add --out\n'])
})

test('a policy is measured at saturation only, and a cache server has no policies', async () => {
  const rates = await gwInProcess(['bench', 'policy', 'header', '--rates', '50'])
  assert.match(rates.stderr, /^--rates: gw bench policy measures saturation only/)
  const results = fileURLToPath(new URL('../../results', import.meta.url))
  const cache = await gwInProcess([
    'bench',
    'capacity',
    '--cache',
    '--rps',
    '5',
    '--policies',
    'header',
    '--from',
    results,
  ])
  assert.match(cache.stderr, /^--policies: a cache server has none/)
})
