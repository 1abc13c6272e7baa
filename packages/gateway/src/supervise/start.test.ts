import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fakeDocument, GatewayProcess, testDirectory } from './testing/gateway-process.js'
import { until } from './testing/until.js'

test('the last good document is activated and reported when the one on disk is broken', async (t) => {
  const dir = testDirectory()
  const first = await new GatewayProcess(t, { dir, document: fakeDocument('good') }).started()
  const { digest } = await first.status()
  const file = join(dir, 'data', 'last-good.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  first.signal('SIGTERM')
  await first.exited

  const second = await new GatewayProcess(t, { dir, document: 'version: 1\nroutes: 5\n' }).started()
  const status = await second.status()
  assert.deepEqual([status.digest, status.origin, status.ready], [digest, 'last-good', true])
  assert.match(status.warnings[0] ?? '', /last valid/)
  assert.equal(second.log('config.invalid').length, 1)
  assert.equal(second.log('start.last-good').length, 1)
  second.write(fakeDocument('mended'))
  second.signal('SIGHUP')
  await until(async () => (await second.echo()).routes.join() === 'mended')
  // A worker may respond with the new routes before the supervisor knows that it is ready.
  await until(async () => (await second.status()).warnings.length === 0)
})

test('the last good document replaces one that workers refuse at start', async (t) => {
  const dir = testDirectory()
  const first = await new GatewayProcess(t, { dir, document: fakeDocument('good') }).started()
  first.signal('SIGTERM')
  await first.exited
  const second = await new GatewayProcess(t, { dir, document: fakeDocument('refused-by-1') }).started()
  assert.deepEqual((await second.echo()).routes, ['good'])
})

test('without a last good document a broken one fails the start with all errors', async (t) => {
  const gateway = new GatewayProcess(t, { document: 'version: 1\nlistners: []\nroutes: 5\n' })
  const error = (await gateway.startError()) ?? ''
  assert.ok(error.split('\n').length >= 2, error)
  assert.match(error, /gateway\.yaml:\d+:\d+: /)
  assert.deepEqual(await gateway.exited, { code: 1, signal: null })
})

test('stored documents contain references, not values', async (t) => {
  const dir = testDirectory()
  const secret = 'a value that must not be stored'
  const document = fakeDocument('first').replace('body: ok', 'body: "${env:GW_TEST_SECRET}"')
  const gateway = await new GatewayProcess(t, { dir, document, env: { GW_TEST_SECRET: secret } }).started()
  for (const file of ['last-good.json', 'deploys/00000001.json']) {
    const text = readFileSync(join(dir, 'data', file), 'utf8')
    assert.match(text, /\$\{env:GW_TEST_SECRET\}/)
    assert.doesNotMatch(text, new RegExp(secret))
  }
  for (const path of ['/v1/plan', '/v1/routes', '/v1/status', '/metrics']) {
    assert.doesNotMatch(await (await gateway.api(path)).text(), new RegExp(secret))
  }
})

/** Removes the process that holds an address, which is this one. */
function withoutHolder(text: string | null | undefined): string {
  return String(text).replace(new RegExp(` by \\S+ \\(pid ${process.pid}\\)`), '')
}

test('an address that another process holds is refused at start and on a deploy, instead of being shared', async (t) => {
  const foreign = createServer()
  foreign.listen(0, '127.0.0.1')
  await once(foreign, 'listening')
  t.after(() => foreign.close())
  const address = `127.0.0.1:${(foreign.address() as AddressInfo).port}`
  const taken = fakeDocument('first').replace('address: 127.0.0.1:0', `address: ${address}`)
  const refused = new GatewayProcess(t, { document: taken })
  const reason = `address ${address} is in use; stop the other process or change listeners[0].address`
  assert.equal(withoutHolder(await refused.startError()), reason)

  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const response = await gateway.put(taken)
  assert.equal(response.status, 409)
  const { reasons } = (await response.json()) as { reasons: readonly { worker: number; reason: string }[] }
  assert.deepEqual(
    reasons.map((one) => [one.worker, withoutHolder(one.reason)]),
    [[0, reason]],
  )
  assert.deepEqual((await gateway.echo()).routes, ['first'])
})

test('an admin address in use fails the start', async (t) => {
  const foreign = createServer()
  foreign.listen(0, '127.0.0.1')
  await once(foreign, 'listening')
  t.after(() => foreign.close())
  const address = `127.0.0.1:${(foreign.address() as AddressInfo).port}`
  const document = fakeDocument('first').replace(
    'admin: { address: 127.0.0.1:0 }',
    `admin: { address: "${address}" }`,
  )
  const gateway = new GatewayProcess(t, { document })
  assert.equal(
    withoutHolder(await gateway.startError()),
    `address ${address} is in use; stop the other process, change admin.address, or add admin: { address: 127.0.0.1:9902 } to the document`,
  )
  assert.equal(
    gateway.log('config.rolled-back')[0]?.['message'],
    'the gateway could not start with this document',
  )
})

test('a read-only data directory loses the history, not the service', async (t) => {
  const dir = testDirectory()
  writeFileSync(join(dir, 'data'), 'a file where the directory should be')
  const gateway = await new GatewayProcess(t, { dir, document: fakeDocument('first') }).started()
  assert.equal(gateway.log('config.not-kept').length, 1)
  assert.equal((await gateway.echo()).ready, true)
})

test('a worker has one V8 helper thread, and a constant young generation', {
  skip: process.platform !== 'linux' && 'it has no /proc',
}, async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const { workers } = await gateway.status()
  assert.ok(workers.length > 0)
  for (const { pid } of workers) {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    for (const flag of ['--v8-pool-size=1', '--min-semi-space-size=16', '--no-allocation-site-pretenuring'])
      assert.ok(command.includes(flag), command.join(' '))
  }
})

test('a spare worker goes idle', {
  skip: process.platform !== 'linux' && 'it has no /proc',
}, async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const { workers } = await gateway.status()
  const spare = await until(() => childrenOf(gateway.pid).find((pid) => !workers.some((w) => w.pid === pid)))
  // Wait until it has loaded its modules.
  await until(async () => {
    const before = wakeUps(spare)
    await sleep(1000)
    return wakeUps(spare) - before < 25
  })
})

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Returns how often the process has gone to sleep. */
function wakeUps(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}
