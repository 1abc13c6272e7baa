import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedPort, documentFor, fileWith, gw, scratch, spawnGw, startArgs, until } from '../testing.js'

const DOCUMENT = documentFor('http://127.0.0.1:9')

test('a document with mistakes does not start: all of them on stderr, exit 3', async (t) => {
  const file = fileWith(t, 'version: 1\nrutes: []\nworkers: many\n')
  const { code, stdout, stderr } = await gw(startArgs(t, file))
  assert.match(stderr, /^\S+:2:1: .*did you mean/m)
  assert.match(stderr, /^\S+:3:10: /m)
  assert.deepEqual([code, stdout], [3, ''])
})

test('flags are checked like the document', async (t) => {
  const file = fileWith(t, DOCUMENT)
  const run = (...args: string[]) => gw(startArgs(t, file, ...args))
  const [listen, sink] = await Promise.all([run('--listen', 'nowhere'), run('--log-sink', 'elasticsearch')])
  assert.match(listen.stderr, /--listen: 'nowhere' is not a listen address/)
  assert.match(sink.stderr, /--log-sink: .* needs log\.elasticsearch/)
  assert.deepEqual([listen.code, sink.code], [3, 3])
})

test('a sink of the command line needs its settings in the document', async (t) => {
  const file = fileWith(t, DOCUMENT)
  const runs = ['syslog', 'webhook', 'loki', 'otlp', 'custom'].map((sink) =>
    gw(startArgs(t, file, '--log-sink', sink)),
  )
  for (const { code, stderr } of await Promise.all(runs)) {
    assert.equal(code, 3)
    assert.match(stderr, /--log-sink: a log target with sink: (\w+) needs log\.\1 /)
  }
})

test('the traffic log goes to standard output when it is asked for, one line a call', async (t) => {
  const settings = `log: { stdout: { spool: { dir: ${JSON.stringify(scratch(t))} } } }`
  const file = fileWith(t, `${DOCUMENT.replace(/^log: .*$/m, '')}\n${settings}\n`)
  const gateway = spawnGw(t, startArgs(t, file, '--workers', '2', '--log-sink', 'stdout'))
  await until(() => gateway.stdout().includes('admin API'), gateway.stderr)
  const url = /listening on (\S+)/.exec(gateway.stdout())?.[1] ?? ''
  for (let i = 0; i < 20; i++) await (await fetch(`${url}/call-${i}`)).text()
  const records = (): string[] =>
    gateway
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'))
  await until(() => records().length >= 20, gateway.stderr)
  const paths = records().map((line): string => JSON.parse(line).url.path)
  assert.deepEqual(paths.sort(), Array.from({ length: 20 }, (_, i) => `/call-${i}`).sort())
  gateway.process.kill('SIGTERM')
  assert.equal(await gateway.exited, 0)
})

test('of two gateways that start together on one address one serves, and the other ends with 1', {
  skip: process.platform !== 'linux' && 'no abstract sockets',
}, async (t) => {
  const address = `127.0.0.1:${await closedPort()}`
  const start = () => spawnGw(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1', '--listen', address))
  const gateways = [start(), start()]
  const outcomes = gateways.map(async (gateway) => {
    await until(() => gateway.stdout().includes('admin API') || gateway.process.exitCode !== null)
    return gateway.process.exitCode
  })
  assert.deepEqual((await Promise.all(outcomes)).sort(), [1, null])
  const said = gateways.map(({ stderr }) => stderr()).join('')
  assert.match(
    said,
    new RegExp(`^address ${address} is in use by another Sluice gateway.*; stop the other process`, 'm'),
  )
})

test('an address of another gateway is refused with its process and its document', {
  skip: process.platform !== 'linux' && 'no procfs',
}, async (t) => {
  const address = `127.0.0.1:${await closedPort()}`
  const document = fileWith(t, DOCUMENT)
  const first = spawnGw(t, startArgs(t, document, '--workers', '1', '--listen', address))
  await until(() => first.stdout().includes('admin API'), first.stderr)
  const second = spawnGw(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1', '--listen', address))
  assert.equal(await second.exited, 1)
  const holder = `another Sluice gateway \\(pid ${first.process.pid}, gw start .*${document}`
  assert.match(second.stderr(), new RegExp(`^address ${address} is in use by ${holder}`, 'm'))
})

test('ready is reported with a line for each listener, and the flags count more than the document', async (t) => {
  const args = ['--workers', '1', '--tier', 'W8', '--listen', '127.0.0.1:0']
  const gateway = spawnGw(t, startArgs(t, fileWith(t, DOCUMENT), ...args))
  await until(() => gateway.stdout().includes('admin API'), gateway.stderr)
  assert.match(
    gateway.stdout(),
    /^listening on http:\/\/127\.0\.0\.1:\d+ \(1 worker\)\nadmin API on http:\/\/127\.0\.0\.1:\d+\n$/,
  )
  for (const line of gateway.stderr().split('\n').slice(0, -1))
    assert.equal(typeof JSON.parse(line).event, 'string', line)
  gateway.process.kill('SIGINT')
  assert.equal(await gateway.exited, 0)
})

test('a gateway outlives who reads its first line', async (t) => {
  const gateway = spawnGw(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1'))
  gateway.process.stdout.destroy()
  await until(() => gateway.stderr().includes('config.applied'), gateway.stderr)
  gateway.process.kill('SIGTERM')
  assert.equal(await gateway.exited, 0)
  assert.match(gateway.stderr(), /"drain\.ended"/)
})
