import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FAKE_CERTIFICATES } from '@sluice/gateway/testing/test-certificate'
import { startController } from '../../testing/controller.js'
import { fileWith, type GwProcess, gw, killGroup, scratch, spawnGw, until } from '../../testing.js'
import { gatewayObjects } from './gateway-objects.js'

const DOCUMENT = `version: 1
listeners: [{ address: ":8080" }]
metrics: { address: ":9902" }
workers: 1
log: { sink: none }
routes: [{ id: hello, match: { path: /hello }, respond: { body: one } }]
`
/** The same document with free ports of this machine. */
const LOCAL = `${DOCUMENT.replace(/":\d+"/g, '"127.0.0.1:0"')}admin: { address: "127.0.0.1:0" }\n`

interface SecretItems {
  readonly secret: { readonly items: readonly { readonly key: string; readonly path: string }[] }
}

interface PodSpec {
  readonly containers: readonly {
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string }[]
    readonly readinessProbe: { readonly httpGet: { readonly path: string } }
  }[]
  readonly volumes: readonly { readonly projected?: { readonly sources: readonly SecretItems[] } }[]
}

/** Returns the pod of the rendered Deployment. */
function podSpec(url: string): PodSpec {
  const settings = { name: 'edge', namespace: 'n', managedBy: 'gw', image: 'sluice:1', tier: 'W1' } as const
  const control = { url, group: 'edge', tokenSecret: 'token', caSecret: 'ca' }
  const { objects } = gatewayObjects(DOCUMENT, { ...settings, replicas: 1, control })
  assert.ok(objects.every(({ kind }) => kind !== 'ConfigMap'))
  const { template } = objects.find(({ kind }) => kind === 'Deployment')!['spec'] as {
    readonly template: { readonly spec: PodSpec }
  }
  return template.spec
}

/** Returns a function that starts the container with its arguments and environment. All runs share the volumes. */
function containerOf(
  t: TestContext,
  { containers, volumes }: PodSpec,
  secrets: Readonly<Record<string, string>>,
) {
  const [mount, data] = [scratch(t), scratch(t)]
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  for (const { key, path } of sources.flatMap(({ secret }) => secret.items)) {
    mkdirSync(dirname(join(mount, path)), { recursive: true })
    writeFileSync(join(mount, path), secrets[key]!)
  }
  const { args, env } = containers[0]!
  const resolved = (value: string | undefined): string =>
    value?.replace(/^\/etc\/sluice/, mount) ?? secrets['token']!
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, resolved(value)]))
  return () => spawnGw(t, args, { env: variables, cwd: data })
}

async function addressIn(gateway: GwProcess, what: 'metrics' | 'listening'): Promise<string> {
  const address = () => new RegExp(`^${what} on (\\S+)`, 'm').exec(gateway.stdout())?.[1]
  await until(() => address() !== undefined, gateway.stderr)
  return address()!
}

test('a pod of a controller waits for its first bundle, and serves it after a restart without the controller', async (t) => {
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const ca = fileWith(t, cert)
  const controller = await startController(t, '--tls-cert', ca, '--tls-key', fileWith(t, key))
  const env = { GW_CONTROL_SERVER: controller.url, GW_TOKEN: controller.adminToken, NODE_EXTRA_CA_CERTS: ca }
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await gw(args, { env })
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  const token = await run('control', 'token', 'create', 'pods', '--role', 'member', '--group', 'edge')
  const pod = podSpec(controller.url)
  const start = containerOf(t, pod, { token, 'ca.crt': cert })
  const { path } = pod.containers[0]!.readinessProbe.httpGet

  const first = start()
  await until(async () => /\bunmanaged\b/.test(await run('fleet')))
  assert.doesNotMatch(first.stdout(), / on http/)
  await run('deploy', fileWith(t, LOCAL), '--group', 'edge')
  const metrics = await addressIn(first, 'metrics')
  await until(async () => (await fetch(metrics + path)).status === 200)

  killGroup(controller.process.process)
  killGroup(first.process)
  await Promise.all([controller.process.exited, first.exited])
  const second = start()
  const url = await addressIn(second, 'listening')
  assert.equal(await (await fetch(`${url}/hello`)).text(), 'one')
  assert.equal((await fetch((await addressIn(second, 'metrics')) + path)).status, 200)
})
