import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type RunningController, startController } from './testing/controller.js'
import { type GwProcess, type LoadHandle, scratch, spawnGw, startLoad, until } from './testing.js'

const document = (note: string, status = 200): string => `version: 1
listeners: [{ address: '127.0.0.1:0' }]
admin: { address: '127.0.0.1:0' }
log: { sink: none }
routes:
  - id: one
    match: { path: /one }
    respond: { status: ${status}, body: ${note} }
`

/** A gateway that a controller configures. */
class Member {
  readonly dataDir: string
  process!: GwProcess
  url = ''
  readonly #t: TestContext
  readonly #args: readonly string[]

  constructor(t: TestContext, controller: RunningController, tokenFile: string, name: string) {
    this.#t = t
    this.dataDir = scratch(t)
    this.#args = ['--control', controller.url, '--group', 'Edge_1', '--control-name', name]
    this.#args = [...this.#args, '--control-token-file', tokenFile, '--data-dir', this.dataDir]
  }

  start(): void {
    this.process = spawnGw(this.#t, ['start', ...this.#args])
  }

  async listening(): Promise<void> {
    await until(() => /^listening on \S+/m.test(this.process.stdout()), this.process.stderr)
    this.url = `${/^listening on (\S+)/m.exec(this.process.stdout())![1]!}/one`
  }

  async text(): Promise<string> {
    return (await fetch(this.url)).text()
  }
}

/** A controller and two gateways without a document. */
async function startGroup(t: TestContext) {
  const controller = await startController(t)
  const folder = scratch(t)
  const created = await controller.run(['control', 'token', 'create', 'gateways', '--role', 'member'])
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, created.stdout, { mode: 0o600 })
  const members = ['edge-1', 'edge-2'].map((name) => new Member(t, controller, tokenFile, name))
  for (const member of members) member.start()
  const fleet = async (): Promise<string> => (await controller.run(['fleet', '-o', 'wide'])).stdout
  await until(async () => /^edge-1 /m.test(await fleet()) && /^edge-2 /m.test(await fleet()))
  const deploy = async (text: string, ...more: readonly string[]) => {
    writeFileSync(join(folder, 'gateway.yaml'), text)
    return controller.run(['deploy', 'gateway.yaml', '--group', 'Edge_1', ...more], { cwd: folder })
  }
  const texts = () => Promise.all(members.map((member) => member.text()))
  return { controller, folder, members, fleet, deploy, texts }
}

test('a canary with errors is aborted by itself, a good one is followed, and Ctrl-C stops neither', async (t) => {
  const { controller, folder, members, fleet, deploy, texts } = await startGroup(t)
  assert.equal((await deploy(document('first'))).code, 0)
  for (const member of members) await member.listening()
  const [load, otherLoad] = members.map(({ url }) => startLoad(url, 1)) as [LoadHandle, LoadHandle]

  const bad = await deploy(document('bad', 500), '--canary', '1', '--for', '60m', '--abort-on', 'errors > 1%')
  assert.equal(bad.code, 6, bad.stderr)
  assert.match(bad.stderr, /^errors > 1%: \d+\.\d% on the canary, (0\.0%|no responses) on the others$/m)
  assert.match(bad.stderr, /^aborted: edge-1 serves the previous configuration again$/m)
  assert.deepEqual(await texts(), ['first', 'first'])

  const good = await deploy(
    document('second'),
    '--canary',
    '50%',
    '--for',
    '10s',
    '--abort-on',
    'errors > 1%',
  )
  assert.match(good.stderr, /^canary edge-1 \(1 of 2 gateways\), /m)
  assert.match(good.stdout, /is active on 2 of 2 gateways$/m, good.stderr)
  assert.deepEqual(await texts(), ['second', 'second'])

  writeFileSync(join(folder, 'gateway.yaml'), document('third'))
  const args = [
    'deploy',
    'gateway.yaml',
    '--group',
    'Edge_1',
    '--canary',
    '1',
    '--for',
    '60m',
    '--abort-on',
    'errors > 1%',
  ]
  const env = { GW_CONTROL_SERVER: controller.url, GW_TOKEN: controller.adminToken }
  const interrupted = spawnGw(t, args, { cwd: folder, env })
  const line = /^Edge_1: canary edge-1 \(1 of 2 gateways\), \d+m \d+s left, errors /m
  await until(async () => line.test(await fleet()), interrupted.stderr)
  interrupted.process.kill('SIGINT')
  await interrupted.exited
  assert.equal(interrupted.process.signalCode, 'SIGINT')
  assert.match(interrupted.stderr(), /^the deploy continues: .* gw deploy --abort /m)
  assert.match(await fleet(), /^edge-1 +Edge_1 +canary /m)
  assert.deepEqual(await texts(), ['third', 'second'])
  assert.equal((await controller.run(['deploy', '--group', 'Edge_1', '--abort'])).code, 0)
  await until(async () => (await members[0]!.text()) === 'second')
  await load.stop()
  await otherLoad.stop()
  assert.deepEqual(otherLoad.failures(), [])
})
