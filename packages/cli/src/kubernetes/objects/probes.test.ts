import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, until } from '../../testing.js'
import { gatewayObjects } from './gateway-objects.js'

const SETTINGS = {
  name: 'edge',
  namespace: 'gateways',
  managedBy: 'gw',
  image: 'sluice:1',
  tier: 'W1',
  replicas: 1,
} as const
const REST = 'workers: 1\ndrain: { delay: 1m }\nlog: { sink: none }\nroutes: []\n'

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

/** Returns the readiness and liveness probes for a document. */
function probesOf(document: string): { readonly ready: Probe; readonly alive: Probe } {
  const deployment = gatewayObjects(document, SETTINGS).objects.find(({ kind }) => kind === 'Deployment')
  const { template } = deployment!['spec'] as {
    template: { spec: { containers: { readinessProbe: Probe; livenessProbe: Probe }[] } }
  }
  const { readinessProbe, livenessProbe } = template.spec.containers[0]!
  return { ready: readinessProbe, alive: livenessProbe }
}

for (const [name, keys, port] of [
  [
    'the address for metrics',
    'listeners: [{ address: ":8080" }]\nmetrics: { address: ":9902" }\n',
    'metrics',
  ],
  ['a listener with health', 'listeners: [{ address: ":8080", health: true }]\n', 'http'],
] as const) {
  test(`${name} answers the kubelet's probes: not ready during a drain, but always alive`, async (t) => {
    const document = `version: 1\n${keys}${REST}`
    const { ready, alive } = probesOf(document)
    assert.equal(ready.httpGet.port, port)
    const local = `${document.replace(/":\d+"/g, '"127.0.0.1:0"')}admin: { address: "127.0.0.1:0" }\n`
    const gateway = await startGateway(t, local)
    if (port === 'metrics') await until(() => gateway.outputText().includes('metrics on'))
    const base = port === 'http' ? gateway.url : /metrics on (\S+)/.exec(gateway.outputText())![1]!
    const statusOf = async ({ httpGet }: Probe): Promise<number> =>
      (await fetch(base + httpGet.path, { headers: { connection: 'close' } })).status
    assert.deepEqual([await statusOf(ready), await statusOf(alive)], [200, 200])
    gateway.process.kill('SIGTERM')
    await until(async () => (await statusOf(ready)) === 503)
    assert.equal(await statusOf(alive), 200)
    // A second SIGTERM ends the drain.
    gateway.process.kill('SIGTERM')
    await gateway.exited
  })
}
