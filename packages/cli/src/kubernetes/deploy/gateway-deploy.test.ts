import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FakeApiServer } from '../../testing/fake-api-server.js'
import { gwInProcess } from '../../testing/in-process.js'
import { fileWith } from '../../testing.js'
import { Cluster } from '../cluster/cluster.js'
import { objectChanges } from './object-changes.js'

// Plans and applied objects. npm run test:kubernetes covers the rest with a real cluster.

const APPS = '/apis/apps/v1/namespaces/edge/deployments'
const ROUTES = `
  - { id: orders, match: { path: /orders }, respond: { body: "\${env:WORD}", status: 200 } }
  - { id: stock, match: { path: /stock }, respond: { body: b } }
`
const document = (routes: string): string => `version: 1
listeners: [{ address: ":8080", health: true }]
routes: ${routes}`

async function cluster(t: TestContext) {
  const api = await FakeApiServer.start(t)
  const kubeconfig = fileWith(t, api.kubeconfig, 'kubeconfig')
  const run = (command: readonly string[], text: string, ...more: readonly string[]) =>
    gwInProcess([...command, '-c', fileWith(t, text), '--kubeconfig', kubeconfig, '--secret', 's', ...more])
  return { api, run }
}

const LABELS = {
  'app.kubernetes.io/name': 'sluice',
  'app.kubernetes.io/instance': 'sluice',
  'app.kubernetes.io/managed-by': 'gw',
}
const DIFF = ['diff', '--kubernetes']

/** Returns a Deployment whose number of pods these field managers own. */
function addForeignDeployment(api: FakeApiServer, replicas: number, managers: readonly string[]): void {
  const managedFields = managers.map((manager) => ({ manager, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }))
  const metadata = { name: 'sluice', labels: LABELS, managedFields }
  api.addForeign(APPS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } })
}

/** Returns the number of pods that each field manager has applied. */
function replicasSaid({ applied }: FakeApiServer): string[] {
  return applied
    .filter(({ object }) => object['kind'] === 'Deployment')
    .map(({ manager, object }) => `${manager} ${(object['spec'] as { replicas?: number }).replicas}`)
}

test('a Deployment keeps its number of pods, unless the command line sets it', async (t) => {
  const { api, run } = await cluster(t)
  await run(DIFF, document(ROUTES))
  assert.deepEqual([...new Set(replicasSaid(api))], ['sluice 2'])
  addForeignDeployment(api, 4, ['kubectl'])
  api.applied.length = 0
  const silent = await run(DIFF, document(ROUTES), '-o', 'json')
  const told = await run(DIFF, document(ROUTES), '-o', 'json', '--replicas', '5')
  const same = await run(DIFF, document(ROUTES), '-o', 'json', '--replicas', '4')
  const says = [silent, told, same].map(({ stdout }) => stdout.includes('spec.replicas'))
  assert.deepEqual(says, [false, true, false])
  assert.deepEqual([...new Set(replicasSaid(api))], ['sluice undefined'])
})

test('a requested autoscaler controls the number of pods', async (t) => {
  const { api, run } = await cluster(t)
  addForeignDeployment(api, 4, ['sluice'])
  const { stdout } = await run(DIFF, document(ROUTES), '-o', 'json', '--replicas', '3', '--max-replicas', '6')
  assert.ok(!stdout.includes('spec.replicas'))
})

test('the plan lists changed routes of the document, but no values', async (t) => {
  const { api, run } = await cluster(t)
  const data = { 'gateway.yaml': document(ROUTES) }
  const metadata = { name: 'sluice', labels: LABELS }
  api.addForeign('/api/v1/namespaces/edge/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data,
  })
  const next = document(ROUTES.replace('200', '201').replace(/ {2}- \{ id: stock.*\n/, ''))
  const { stdout } = await run(DIFF, next)
  assert.match(
    stdout,
    /^in the document:\n {4}~ route orders\n {8}action.status: 200 -> 201\n {4}- route stock$/m,
  )
  const { document: changes } = JSON.parse((await run(DIFF, next, '-o', 'json')).stdout)
  assert.deepEqual(
    changes.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`),
    ['change orders', 'remove stock'],
  )
})

test('a dry run tells what the routes cost per request', async (t) => {
  const { run } = await cluster(t)
  const text = document(
    ROUTES.replace(
      'match: { path: /stock }',
      '$&, policies: [{ use: header, with: { request: { set: { x-a: b } } } }]',
    ),
  )
  const { stdout } = await run(['deploy', 'kubernetes'], text, '--dry-run')
  assert.match(
    stdout,
    /^ {8}cost: \+0\.4 µs per request \(header 0\.4\)\n(?:.*\n)*cost per request: \+0\.4 µs in 1 route; measured on .+\n2 pods start$/m,
  )
})

test('a missing namespace is reported with the fix', async (t) => {
  const { api, run } = await cluster(t)
  api.misbehave = (req, res) => {
    if (req.method !== 'PATCH') return false
    const details = { name: 'edge', kind: 'namespaces' }
    res
      .writeHead(404)
      .end(JSON.stringify({ kind: 'Status', message: 'namespaces "edge" not found', details }))
    return true
  }
  for (const command of [DIFF, ['deploy', 'kubernetes']]) {
    const { code, stderr } = await run(command, document(ROUTES))
    assert.equal(code, 1)
    assert.match(stderr, /^namespace 'edge' does not exist; create it with: kubectl create namespace edge$/m)
  }
})

test('objects that need kubectl apply --server-side are rendered with a note', async (t) => {
  const { run } = await cluster(t)
  const large = document(
    `\n  - { id: a, match: { path: / }, respond: { body: "${'x'.repeat(260 * 1024)}" } }\n`,
  )
  const rendered = await run(['deploy', 'kubernetes', '--render'], large)
  assert.equal(rendered.code, 0, rendered.stderr)
  assert.match(rendered.stderr, /^ConfigMap\/sluice is larger than 256 KB: .*kubectl apply --server-side/m)
  const small = await run(['deploy', 'kubernetes', '--render'], document(ROUTES))
  assert.doesNotMatch(small.stderr, /server-side/)
})

test('different fields of other managers are still a conflict', async (t) => {
  const { api } = await cluster(t)
  addForeignDeployment(api, 4, ['kubectl'])
  api.misbehave = (req, res) => {
    if (req.method !== 'PATCH') return false
    res.writeHead(409).end('{"kind":"Status","message":"conflict with \\"kubectl\\": .spec.paused"}')
    return true
  }
  const client = new Cluster(api.access)
  t.after(() => client.close())
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 2 } }
  const metadata = { name: 'sluice', namespace: 'edge', labels: LABELS }
  const options = { isForced: false, setsReplicas: false }
  await assert.rejects(
    objectChanges(client, [{ ...object, metadata }], options),
    /conflict with .*add --force to take over these fields/,
  )
})
