import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { ApiServer } from '../../kubernetes/testing/api-server.js'
import { GatewayProcess, testDirectory } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'

// The keys of `kubernetes`, and what operators see of Services, through a separate gateway.

const DOCUMENT = `version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
kubernetes: { kubeconfig: kubeconfig.yaml, context: test }
upstreams: { orders: { targets: [ k8s://orders.default:8080 ] } }
routes: [{ id: all, upstream: orders }]
`

function kubeconfig(port: number, token: string): string {
  const ca = Buffer.from(FAKE_CERTIFICATES.localhost.cert).toString('base64')
  return `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:${port}", certificate-authority-data: ${ca} } }]
users: [{ name: u, user: { token: ${token} } }, { name: x, user: { exec: { command: /bin/true } } }]
contexts: [{ name: test, context: { cluster: c, user: u } }, { name: other, context: { cluster: c, user: x } }]
current-context: other
`
}

interface Upstreams {
  readonly upstreams: readonly { readonly targets: readonly { readonly state: object }[] }[]
}

test('Services are watched with the kubeconfig and context, and shown in status and metrics', async (t) => {
  const api = await ApiServer.start(t)
  api.set('orders-1', [{ address: '10.1.0.1' }, { address: '10.1.0.2' }])
  const dir = testDirectory()
  writeFileSync(join(dir, 'kubeconfig.yaml'), kubeconfig(api.port, 'top-secret'))
  const gateway = await new GatewayProcess(t, { dir, document: DOCUMENT }).started()
  assert.equal(api.asked[0]!.token, 'Bearer top-secret')
  const state = async () => {
    const { upstreams } = (await (await gateway.api('/v1/upstreams')).json()) as Upstreams
    return upstreams[0]!.targets[0]!.state as { readonly endpoints: number; readonly problem: string | null }
  }
  assert.deepEqual([(await state()).endpoints, (await state()).problem], [2, null])
  const labels = 'service="orders.default:8080"'
  const metrics = async () => (await gateway.api('/metrics')).text()
  assert.ok((await metrics()).includes(`gw_service_endpoints{${labels}} 2`))
  // Two workers, but only one watch.
  assert.equal(api.count('list'), 1)

  api.misbehave = (_, res) => {
    res.writeHead(401).end('{"message":"Unauthorized"}')
    return true
  }
  await until(() => api.openWatches === 1)
  api.cut('reset')
  await until(async () => (await state()).problem?.includes('401: Unauthorized'))
  assert.equal((await state()).endpoints, 2)
  assert.match(await metrics(), /gw_service_stale_seconds\{[^}]*\} (?!0\n)/)
  const told = JSON.stringify([...gateway.log('service.unheard'), await state()])
  assert.ok(!told.includes('top-secret'))
})

test('a kubeconfig user with a credential program is refused, and the program is not run', async (t) => {
  const api = await ApiServer.start(t)
  const dir = testDirectory()
  writeFileSync(join(dir, 'kubeconfig.yaml'), kubeconfig(api.port, 'x'))
  const gateway = new GatewayProcess(t, {
    dir,
    document: DOCUMENT.replace('context: test', 'context: other'),
  })
  assert.match(
    (await gateway.startError()) ?? '',
    /gets its credentials from a program \(exec\), which is not supported here; use a token/,
  )
})
