import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fakeDocument, GatewayProcess, testDirectory } from './testing/gateway-process.js'
import { until } from './testing/until.js'

const serves = (gateway: GatewayProcess, routeId: string): Promise<true> =>
  until(async () => (await gateway.echo()).routes.join() === routeId)

test('a changed document is applied automatically', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  gateway.write(fakeDocument('second'))
  await serves(gateway, 'second')
  assert.equal((await gateway.status()).origin, 'file')
})

test('a document mounted by Kubernetes is applied when the ..data link is swapped', async (t) => {
  const dir = testDirectory()
  for (const routeId of ['first', 'second']) {
    mkdirSync(join(dir, `..${routeId}`))
    writeFileSync(join(dir, `..${routeId}`, 'gateway.yaml'), fakeDocument(routeId))
  }
  symlinkSync('..first', join(dir, '..data'))
  symlinkSync('..data/gateway.yaml', join(dir, 'gateway.yaml'))
  const gateway = await new GatewayProcess(t, { dir }).started()
  symlinkSync('..second', join(dir, '..data_tmp'))
  renameSync(join(dir, '..data_tmp'), join(dir, '..data'))
  await serves(gateway, 'second')
})

test('a broken document is reported with its errors, and the old plan stays active', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  gateway.write('version: 1\nroutes: 5\n')
  const [entry] = await until(() =>
    gateway.log('config.invalid').length > 0 ? gateway.log('config.invalid') : null,
  )
  assert.match(String(entry?.['diagnostics']), /gateway\.yaml:2:\d+: /)
  const { lastRollout, digest } = await gateway.status()
  assert.deepEqual(
    [lastRollout?.result, lastRollout?.digest, lastRollout?.origin, lastRollout?.actor],
    ['invalid', null, 'file', 'watch'],
  )
  assert.match(lastRollout?.mistakes[0] ?? '', /gateway\.yaml:2:\d+: /)
  assert.notEqual(digest, null)
  const text = await (await gateway.api('/metrics')).text()
  assert.match(text, /gw_rollouts_total\{result="invalid"\} 1\n/)
  assert.match(text, /gw_rollouts_total\{result="applied"\} 1\n/)
  assert.deepEqual((await gateway.echo()).routes, ['first'])
  assert.equal((await gateway.api('/readyz')).status, 200)
  gateway.write(fakeDocument('second'))
  await serves(gateway, 'second')
})

test('SIGHUP reads the document again, and references get their new values', async (t) => {
  const dir = testDirectory()
  const secret = join(dir, 'secret')
  mkdirSync(join(dir, 'elsewhere'))
  const elsewhere = join(dir, 'elsewhere', 'secret')
  writeFileSync(elsewhere, 'one')
  symlinkSync(elsewhere, secret)
  const document = fakeDocument('first').replace('body: ok', `body: "\${file:${secret}}"`)
  const gateway = await new GatewayProcess(t, { dir, document }).started()
  const before = await gateway.status()
  const applied = () => gateway.log('config.applied').length
  assert.equal(applied(), 1)
  writeFileSync(elsewhere, 'two')
  gateway.signal('SIGHUP')
  await until(() => applied() === 2)
  assert.equal((await gateway.status()).digest, before.digest)
  assert.equal(gateway.log('config.applied')[1]!['changes'], 1)
  gateway.signal('SIGHUP')
  await until(() => gateway.log('config.unchanged').length === 1)
  const plan = await (await gateway.api('/v1/plan')).text()
  assert.doesNotMatch(plan, /"two"/)
})

test('a document deployed over the API is active until the file is read again', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  await gateway.put(fakeDocument('second'))
  await serves(gateway, 'second')
  gateway.signal('SIGHUP')
  await serves(gateway, 'first')
  const actors = () => gateway.log('config.applied').map((entry) => entry['actor'])
  await until(() => actors().length === 3)
  assert.deepEqual(actors(), ['start', 'local@127.0.0.1', 'SIGHUP'])
})

test('the admin API moves to another address and the old one closes', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const old = gateway.addresses.admin
  await gateway.put(
    fakeDocument('first').replace('admin: { address: 127.0.0.1:0 }', 'admin: { address: "[::1]:0" }'),
  )
  await until(() =>
    fetch(`${old}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  const line = gateway.log('admin.moved')[0]
  assert.match(String(line?.['url']), /^http:\/\/\[::1\]:\d+$/)
  assert.equal((await fetch(`${line?.['url']}/healthz`)).status, 200)
})

test('an unreadable document on SIGHUP is reported as refused, a dry run is not', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  await gateway.put('version: 1\nroutes: 5\n', '?dryRun=1')
  assert.equal((await gateway.status()).lastRollout?.result, 'applied')
  rmSync(gateway.configFile)
  gateway.signal('SIGHUP')
  await until(async () => (await gateway.status()).lastRollout?.result === 'invalid')
  assert.match((await gateway.status()).lastRollout?.mistakes[0] ?? '', /gateway\.yaml/)
})
