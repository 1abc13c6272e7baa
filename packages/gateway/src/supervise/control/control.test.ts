import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { LEAVING_CODE } from '@sluice/control-client'
import { ScriptedController, type ScriptedMember, testBundle } from '@sluice/control-client/testing'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { steadyLoad } from '../../testing/steady-load.js'
import { fakeDocument, GatewayProcess, testDirectory } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'
import type { ControlSettings } from './control-settings.js'

/** Returns settings like those of the command line. */
function settingsFor(urls: string | readonly string[], more: Partial<ControlSettings> = {}): ControlSettings {
  const tls = { caFile: null, certFile: null, keyFile: null, fingerprints: [] }
  return {
    urls: typeof urls === 'string' ? [urls] : urls,
    group: 'edge',
    name: 'gw-1',
    token: 'secret',
    tls,
    ...more,
  }
}

const bundleOf = (routeId: string, files: Readonly<Record<string, string>> = {}) =>
  testBundle(fakeDocument(routeId), files)

/** Waits until a gateway is connected, and has said hello. */
const memberOf = (controller: ScriptedController): Promise<ScriptedMember> =>
  until(() => ((controller.member?.received.length ?? 0) > 0 ? controller.member : null))

interface Joined {
  readonly controller: ScriptedController
  readonly gateway: GatewayProcess
  readonly link: ScriptedMember
}

/** Starts a gateway whose first document comes from a controller. */
async function joined(t: TestContext, more: Partial<ControlSettings> = {}): Promise<Joined> {
  const controller = await ScriptedController.start(t)
  const gateway = new GatewayProcess(t, {
    workers: 1,
    control: settingsFor(controller.url, more),
    isWithoutDocument: true,
  })
  const link = await memberOf(controller)
  assert.equal(await link.ask('serve', 1, bundleOf('first')), 'active')
  await gateway.started()
  return { controller, gateway, link }
}

const routesOf = async (gateway: GatewayProcess): Promise<readonly string[]> => (await gateway.echo()).routes

test('a gateway without a document waits for its first bundle, then takes what the group decides', async (t) => {
  const controller = await ScriptedController.start(t)
  const gateway = new GatewayProcess(t, {
    workers: 1,
    control: settingsFor(controller.url),
    isWithoutDocument: true,
  })
  const link = await memberOf(controller)
  const hello = link.received[0]!
  assert.ok(hello.type === 'hello')
  assert.deepEqual([hello.group, hello.name, hello.isReady, hello.digest], ['edge', 'gw-1', false, null])
  await until(() => gateway.log('start.waiting').length === 1)
  assert.equal(await link.ask('prepare', 1, bundleOf('first')), 'prepared')
  assert.equal(await link.settle('activate', 1), 'active')
  await gateway.started()
  assert.deepEqual(await routesOf(gateway), ['first'])
  const load = steadyLoad(`${gateway.url}/first`, 'GET')
  assert.equal(await link.ask('prepare', 2, bundleOf('second')), 'prepared')
  assert.deepEqual(await routesOf(gateway), ['first'])
  assert.equal(await link.settle('discard', 2), 'discarded')
  assert.deepEqual(await routesOf(gateway), ['first'])
  assert.equal(await link.ask('prepare', 3, bundleOf('third')), 'prepared')
  assert.equal(await link.settle('activate', 3), 'active')
  assert.deepEqual(await routesOf(gateway), ['third'])
  const report = await link.next('status')
  assert.deepEqual(
    [report.deploy, report.digest, report.isReady, report.workers],
    [3, bundleOf('third').digest, true, 1],
  )
  const { control, origin, lastRollout } = await gateway.status()
  assert.deepEqual([origin, lastRollout?.actor, lastRollout?.note], ['control', 'ann', 'a note'])
  assert.deepEqual(
    [control?.connected, control?.deploy, control?.group, control?.drift],
    [true, 3, 'edge', null],
  )
  await load.stop()
  assert.ok(load.sent > 0)
  assert.deepEqual(
    load.outcomes.filter(({ status }) => status !== 200),
    [],
  )
})

test('reports contain the traffic since the previous one', async (t) => {
  const { gateway, link } = await joined(t)
  const load = steadyLoad(`${gateway.url}/first`, 'GET')
  const busy = (): boolean =>
    link.received.some(
      (message) => message.type === 'status' && (message.figures?.requestsPerSecond ?? 0) > 0,
    )
  await until(busy)
  await load.stop()
})

test('the metrics show the connection', async (t) => {
  const { gateway, controller } = await joined(t)
  const metrics = async (): Promise<string> => (await gateway.api('/metrics')).text()
  assert.match(
    await metrics(),
    /^gw_control_connected 1\n(?:.*\n)*gw_control_deploy 1\n(?:.*\n)*gw_control_last_contact_seconds \d/m,
  )
  controller.close()
  await until(async () => /^gw_control_connected 0$/m.test(await metrics()))
})

test('a refusal names the errors of the document and the workers', async (t) => {
  const { gateway, link } = await joined(t)
  assert.match(
    await link.ask('prepare', 2, testBundle('version: 1\nrutes: []\n')),
    /^refused: .*gateway\.yaml:2:1: .*routes/,
  )
  assert.match(
    await link.ask('prepare', 3, bundleOf('refused-by-1')),
    /^refused: worker 1: worker 1 was asked to refuse$/,
  )
  assert.match(await link.ask('serve', 4, bundleOf('refused-by-1')), /^refused: worker 1: /)
  assert.deepEqual(await routesOf(gateway), ['first'])
  assert.equal((await gateway.status()).control?.deploy, 1)
})

test('files of a bundle are found beside its document', async (t) => {
  const { gateway, link } = await joined(t)
  const document = fakeDocument('files').replace('body: ok', 'body: "${file:texts/body.txt}"')
  assert.match(await link.ask('prepare', 2, testBundle(document)), /^refused: .*texts\/body\.txt/)
  assert.equal(await link.ask('serve', 3, testBundle(document, { 'texts/body.txt': 'hello' })), 'active')
  assert.deepEqual(await routesOf(gateway), ['files'])
})

test('a bundle that is prepared expires, and a worker that hangs in its preparation can be given up', async (t) => {
  const { gateway, link } = await joined(t)
  assert.equal(await link.ask('prepare', 2, bundleOf('second'), 1000), 'prepared')
  await until(() => gateway.log('config.rolled-back').length > 0)
  assert.equal(await link.settle('activate', 2), 'expired')
  link.order('prepare', 3, bundleOf('slow-by-1'))
  await until(() => gateway.log('plane.dawdles').length > 0)
  assert.equal(await link.settle('discard', 3), 'discarded')
  process.kill((await gateway.status()).workers[0]!.pid!, 'SIGKILL')
  assert.equal(await link.ask('serve', 4, bundleOf('fourth')), 'active')
  assert.deepEqual(await routesOf(gateway), ['fourth'])
})

test('the active bundle is served after a restart without the controller, and after a cut', async (t) => {
  const { controller, gateway, link } = await joined(t)
  const load = steadyLoad(`${gateway.url}/first`, 'GET')
  assert.equal(await link.ask('serve', 2, bundleOf('second')), 'active')
  controller.close()
  await until(() => gateway.log('control.disconnected').length === 1)
  assert.deepEqual(await routesOf(gateway), ['second'])
  await load.stop()
  assert.ok(load.sent > 0)
  assert.deepEqual(
    load.outcomes.filter(({ status }) => status !== 200),
    [],
  )
  gateway.signal('SIGTERM')
  assert.equal((await gateway.exited).code, 0)
  const again = new GatewayProcess(t, {
    workers: 1,
    dir: gateway.dir,
    control: settingsFor(controller.url),
    isWithoutDocument: true,
  })
  await again.started()
  assert.deepEqual(await routesOf(again), ['second'])
  const { control, origin } = await again.status()
  assert.deepEqual([origin, control?.connected, control?.deploy, control?.drift], ['control', false, 2, null])
  const back = await ScriptedController.start(t, { port: controller.port })
  const next = await memberOf(back)
  const [hello] = next.received
  assert.ok(hello?.type === 'hello')
  assert.deepEqual([hello.deploy, hello.digest], [2, bundleOf('second').digest])
  assert.match(await next.ask('serve', 1, bundleOf('first')), /^refused: deploy 1 is older/)
  assert.equal(await next.ask('serve', 3, bundleOf('third')), 'active')
  const closed = once(next.socket, 'close')
  again.signal('SIGTERM')
  assert.equal((await closed)[0], LEAVING_CODE)
})

test('a killed supervisor is replaced by one that serves the same bundle', async (t) => {
  const controller = await ScriptedController.start(t)
  // Workers of the real kind share their port with those of the next supervisor.
  const options = {
    workers: 1,
    kind: 'busy',
    control: settingsFor(controller.url),
    isWithoutDocument: true,
  } as const
  const gateway = new GatewayProcess(t, options)
  assert.equal(await (await memberOf(controller)).ask('serve', 1, bundleOf('first')), 'active')
  await gateway.started()
  const load = steadyLoad(`${gateway.url}/first`, 'GET')
  await until(() => load.outcomes.length > 0)
  gateway.signal('SIGKILL')
  await gateway.exited
  const again = await new GatewayProcess(t, { ...options, dir: gateway.dir }).started()
  const { origin, control } = await again.status()
  assert.deepEqual([origin, control?.deploy, again.url], ['control', 1, gateway.url])
  await load.stop()
  assert.deepEqual(
    load.outcomes.filter(({ status }) => status !== 200),
    [],
  )
})

test('an active bundle that cannot be used is replaced by the one before, and reported', async (t) => {
  const controller = await ScriptedController.start(t)
  const options = {
    workers: 1,
    control: settingsFor(controller.url),
    isWithoutDocument: true,
    env: { ROUTE: 'x' },
  }
  const gateway = new GatewayProcess(t, options)
  const link = await memberOf(controller)
  await link.ask('serve', 1, bundleOf('first'))
  await link.ask('serve', 2, testBundle(fakeDocument('second').replace('body: ok', 'body: "${env:ROUTE}"')))
  await gateway.started()
  gateway.signal('SIGTERM')
  await gateway.exited
  const again = await new GatewayProcess(t, { ...options, dir: gateway.dir, env: {} }).started()
  assert.deepEqual(await routesOf(again), ['first'])
  const { control } = await again.status()
  assert.match(control?.drift ?? '', /the active bundle cannot be used: .*ROUTE/)
  const next = await memberOf(controller)
  assert.equal(await next.ask('serve', 3, bundleOf('third')), 'active')
  assert.equal((await again.status()).control?.drift, null)
})

test('a gateway that was moved to another group does not serve the bundle of the former one', async (t) => {
  const { controller, gateway } = await joined(t)
  gateway.signal('SIGTERM')
  await gateway.exited
  const control = settingsFor(controller.url, { group: 'other' })
  const again = new GatewayProcess(t, { workers: 1, dir: gateway.dir, control, isWithoutDocument: true })
  await until(() => again.log('start.waiting').length === 1)
  const next = await memberOf(controller)
  assert.equal(await next.ask('serve', 1, bundleOf('other')), 'active')
  await again.started()
  assert.deepEqual(await routesOf(again), ['other'])
})

test('a start document serves until the first bundle, and does not come back', async (t) => {
  const controller = await ScriptedController.start(t)
  const document = `${fakeDocument('start')}control: { url: "${controller.url}", group: edge, token: secret }\n`
  const gateway = await new GatewayProcess(t, { workers: 1, document }).started()
  assert.deepEqual(await routesOf(gateway), ['start'])
  const link = await memberOf(controller)
  assert.deepEqual(controller.authorizations, ['Bearer secret'])
  assert.equal(await link.ask('serve', 1, bundleOf('first')), 'active')
  gateway.write(document.replaceAll('start', 'edited').replace('token: secret', 'token: renewed'))
  await until(() => controller.authorizations.includes('Bearer renewed'))
  gateway.signal('SIGHUP')
  await until(() => gateway.log('config.unchanged').some((entry) => entry['actor'] === 'SIGHUP'))
  assert.deepEqual(await routesOf(gateway), ['first'])
  gateway.signal('SIGTERM')
  await gateway.exited
  controller.close()
  const again = await new GatewayProcess(t, { workers: 1, dir: gateway.dir }).started()
  assert.deepEqual(await routesOf(again), ['first'])
})

test('a local deploy needs force, is reported as drift, and ends with the next deploy', async (t) => {
  const { gateway, link } = await joined(t)
  const refused = await gateway.put(fakeDocument('local'))
  assert.equal(refused.status, 409)
  const problem = (await refused.json()) as { readonly code: string; readonly detail: string }
  assert.equal(problem.code, 'GW_ADMIN_CONTROLLED')
  assert.match(problem.detail, /group 'edge' of a controller: deploy with gw deploy --group edge/)
  assert.equal((await gateway.put(fakeDocument('local'), '?dryRun=1')).status, 200)
  assert.equal((await gateway.put(fakeDocument('local'), '?force=1&save=1')).status, 409)
  assert.deepEqual(await routesOf(gateway), ['first'])
  assert.equal((await gateway.put(fakeDocument('local'), '?force=1')).status, 200)
  assert.deepEqual(await routesOf(gateway), ['local'])
  const { control, origin, warnings } = await gateway.status()
  assert.deepEqual([origin, control?.digest], ['api', bundleOf('first').digest])
  assert.match(control?.drift ?? '', /^the deploy of .* by .* is active$/)
  assert.match(warnings.join(), /in place of the configuration of group 'edge'/)
  await until(() => link.received.some((message) => message.type === 'status' && message.drift !== undefined))
  assert.equal(await link.ask('serve', 2, bundleOf('second')), 'active')
  assert.deepEqual([await routesOf(gateway), (await gateway.status()).control?.drift], [['second'], null])
})

test('a bundle with the same configuration is taken without a rollout', async (t) => {
  const { gateway, link } = await joined(t)
  const commented = testBundle(`# a comment\n${fakeDocument('first')}`)
  assert.equal(await link.ask('prepare', 2, commented), 'unchanged')
  assert.equal((await gateway.status()).control?.deploy, 1)
  assert.equal(await link.settle('activate', 2), 'active')
  const { control } = await gateway.status()
  assert.deepEqual([control?.deploy, control?.digest], [2, commented.digest])
  assert.equal(readdirSync(join(gateway.dir, 'data/control/bundles')).length, 2)
})

test('the controller is known by its CA or its fingerprint, the gateway by its certificate', async (t) => {
  const { localhost, renewed } = FAKE_CERTIFICATES
  const dir = testDirectory()
  const files = { caFile: join(dir, 'ca'), certFile: join(dir, 'cert'), keyFile: join(dir, 'key') }
  writeFileSync(files.caFile, localhost.cert)
  writeFileSync(files.certFile, renewed.cert)
  writeFileSync(files.keyFile, renewed.key)
  const sha256 = (pem: string) => createHash('sha256').update(new X509Certificate(pem).raw).digest('hex')
  const mtls = { ...localhost, ca: renewed.cert, requestCert: true, rejectUnauthorized: true }
  const controller = await ScriptedController.start(t, { tls: mtls })
  const rogue = await ScriptedController.start(t, { tls: renewed })
  const client = { certFile: files.certFile, keyFile: files.keyFile }
  const cases = [
    { at: controller, tls: { ...client, caFile: files.caFile, fingerprints: [] }, problem: null },
    {
      at: controller,
      tls: { ...client, caFile: null, fingerprints: [sha256(localhost.cert)] },
      problem: null,
    },
    { at: controller, tls: { ...client, caFile: null, fingerprints: [] }, problem: /self.signed/ },
    {
      at: rogue,
      tls: { ...client, caFile: null, fingerprints: [sha256(localhost.cert)] },
      problem: /another certificate than the pinned one/,
    },
    {
      at: rogue,
      tls: { ...client, caFile: files.certFile, fingerprints: [sha256(localhost.cert)] },
      problem: /another certificate/,
    },
    { at: rogue, tls: { ...client, caFile: files.caFile, fingerprints: [] }, problem: /self.signed/ },
  ]
  for (const { at, tls, problem } of cases) {
    const before = at.members.length
    const gateway = new GatewayProcess(t, {
      workers: 1,
      document: fakeDocument('start'),
      control: settingsFor(at.url, { tls }),
    })
    await gateway.started()
    const control = await until(async () => {
      const { control: now } = await gateway.status()
      return (now?.connected ?? false) || now?.problem !== 'connecting' ? now : null
    })
    assert.equal(control.connected, problem === null, String(control.problem))
    if (problem !== null) {
      assert.match(control.problem ?? '', problem)
      assert.equal(at.members.length, before)
    }
    gateway.signal('SIGKILL')
  }
  assert.deepEqual(rogue.authorizations, [])
})

test('of several controllers the next one is used when one dies', async (t) => {
  const controllers = await Promise.all([ScriptedController.start(t), ScriptedController.start(t)])
  const control = settingsFor(controllers.map(({ url }) => url))
  await new GatewayProcess(t, { workers: 1, document: fakeDocument('start'), control }).started()
  await memberOf(controllers[0]!)
  controllers[0]!.close()
  await memberOf(controllers[1]!)
})
