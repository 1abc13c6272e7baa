import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { FakeApiServer } from '../../testing/fake-api-server.js'
import { gwInProcess } from '../../testing/in-process.js'
import { fileWith } from '../../testing.js'
import { Cluster } from './cluster.js'
import { forwardTo } from './pod-forward.js'

// Attacks on the command line by an API server or by a pod.

const DOCUMENT = `version: 1
listeners: [{ address: ":8080", health: true }]
routes: [{ id: all, match: { path: /* }, respond: { body: hello } }]
`
const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sluice', namespace: 'edge', labels: {} },
}
const POD = { namespace: 'edge', name: 'sluice-1' }

async function clusterOf(t: TestContext): Promise<{ api: FakeApiServer; cluster: Cluster }> {
  const api = await FakeApiServer.start(t)
  const cluster = new Cluster(api.access)
  t.after(() => cluster.close())
  return { api, cluster }
}

/** Handles a port-forward to a pod. */
async function forwardedTo(t: TestContext, serve: (send: (data: Buffer) => void) => void) {
  const { api, cluster } = await clusterOf(t)
  const sockets = new WebSocketServer({ server: api.server, handleProtocols: () => 'v4.channel.k8s.io' })
  sockets.on('connection', (socket) => serve((data) => socket.send(data)))
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
  })
  return await forwardTo(cluster, POD, 9901)
}

test('an invalid response is an error, and its names do not reach the terminal', async (t) => {
  const { api, cluster } = await clusterOf(t)
  const meta = { name: 'a', namespace: 'edge', uid: 'u' }
  const bad: unknown[] = [
    [],
    {},
    { metadata: [] },
    { metadata: { ...meta, name: 'a\u001b[2Jb' } },
    { metadata: { ...meta, name: '../../secrets/x' } },
    { metadata: { ...meta, uid: 7 } },
    { metadata: { ...meta, labels: { 'app.kubernetes.io/managed-by': 'x\u001b]0;y\u0007' } } },
    { metadata: { ...meta, ownerReferences: [null] } },
    { metadata: meta, spec: 'x' },
    { metadata: meta, data: ['x'] },
  ]
  for (const body of bad) {
    api.misbehave = (_, res) => res.end(JSON.stringify(body)) !== undefined
    await assert.rejects(
      cluster.read(CONFIG_MAP),
      /^Failure: the API server did not return a Kubernetes object/,
    )
    api.misbehave = (_, res) => res.end(JSON.stringify({ items: [body] })) !== undefined
    await assert.rejects(
      cluster.list(CONFIG_MAP, 'edge', {}),
      /^Failure: the API server did not return a Kubernetes object/,
    )
  }
  for (const items of ['x', {}, undefined]) {
    api.misbehave = (_, res) => res.end(JSON.stringify({ items })) !== undefined
    await assert.rejects(cluster.list(CONFIG_MAP, 'edge', {}), /did not return a list/)
  }
})

test('redirects are not followed, and endless responses are aborted', async (t) => {
  const { api, cluster } = await clusterOf(t)
  const elsewhere = await FakeApiServer.start(t)
  let isAsked = false
  elsewhere.misbehave = (_, res) => {
    isAsked = true
    return res.end('{}') !== undefined
  }
  api.misbehave = (_, res) => res.writeHead(307, { location: `${elsewhere.url}/` }).end() !== undefined
  await assert.rejects(cluster.read(CONFIG_MAP), /cannot read ConfigMap\/sluice: status 307/)
  assert.equal(isAsked, false)
  api.misbehave = (_, res) => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const more = (): void => {
      while (!res.destroyed && res.write(piece));
      res.once('drain', more)
    }
    more()
    return true
  }
  await assert.rejects(cluster.read(CONFIG_MAP), /the response is larger than/)
})

test('messages of the API server are printed without control characters', async (t) => {
  const { api } = await clusterOf(t)
  api.misbehave = (_, res) => {
    res.writeHead(403).end(JSON.stringify({ message: `no\u001b]0;x\u0007\u001b[2J${'y'.repeat(10_000)}` }))
    return true
  }
  const file = fileWith(t, api.kubeconfig, 'kubeconfig')
  const args = ['deploy', 'kubernetes', '-c', fileWith(t, DOCUMENT), '--kubeconfig', file, '--dry-run']
  const { code, stderr } = await gwInProcess(args)
  assert.equal(code, 4)
  assert.match(stderr, /no\\u\{1b\}\]0;x/)
  assert.ok(!stderr.includes('\u001b') && !stderr.includes('secret-token') && stderr.length < 1000)
})

test('names in a kubeconfig are printed without control characters, and devices are not read', async (t) => {
  const api = await FakeApiServer.start(t)
  const { clusters, ...rest } = JSON.parse(api.kubeconfig) as { clusters: [{ cluster: object }] }
  const run = (config: object, ...more: string[]) => {
    const file = fileWith(t, JSON.stringify(config), 'kubeconfig')
    return gwInProcess(['history', '--kubernetes', '--kubeconfig', file, ...more])
  }
  const contexts = [{ name: '\u001b[2Jx' }]
  const escaped = await run({ ...rest, clusters, contexts }, '--context', 'other')
  assert.match(escaped.stderr, /has no 'other' among its contexts: \\u\{1b\}\[2Jx/)
  for (const user of [{ tokenFile: '/dev/zero' }, { 'client-key': '/dev/zero', 'client-certificate': 'x' }]) {
    const { code, stderr } = await run({ ...rest, clusters, users: [{ name: 'u', user }] })
    assert.equal(code, 4)
    assert.match(stderr, /cannot read .*, which the kubeconfig refers to/)
  }
})

test('messages of a pod are limited in size and cannot write to the terminal', async (t) => {
  const huge = await forwardedTo(t, (send) => send(Buffer.alloc(2 * 1024 * 1024)))
  await assert.rejects(huge.toArray(), /Max payload size exceeded/)
  const text = `\u001b[2J${'x'.repeat(100_000)}`
  const error = await forwardedTo(t, (send) =>
    send(Buffer.concat([Buffer.from([1, 0, 0]), Buffer.from(text)])),
  )
  await assert.rejects(error.toArray(), ({ message }: Error) => {
    return message.startsWith('\\u{1b}[2J') && message.length < 1000
  })
})

test('a forwarded connection applies backpressure', async (t) => {
  let waiting = 0
  const stream = await forwardedTo(t, (send) => {
    for (let i = 0; i < 200; i++)
      send(Buffer.concat([Buffer.from([0, ...(i === 0 ? [0, 0] : [])]), Buffer.alloc(65_536)]))
  })
  await new Promise((resolve) => stream.once('readable', resolve))
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  waiting = stream.readableLength
  assert.ok(waiting < 1024 * 1024, `${waiting} bytes wait`)
  stream.destroy()
})
