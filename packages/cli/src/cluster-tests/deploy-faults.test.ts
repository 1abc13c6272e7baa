import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { clusterImage, kubectl, noCluster } from '../testing/cluster.js'
import { deployHelpers, expectExit } from '../testing/deploys.js'
import { fileWith, spawnGw, until } from '../testing.js'

// Deployments with external faults: API server outages, foreign pods, name collisions, an admin API with a token.

const NAMESPACE = 'hostile'
const TOKEN = 'the-token-of-the-admin-api'
const OUTAGE_MS = 4000
const { inPlace, said, run, deploy, inNamespace, pods, answers } = deployHelpers(NAMESPACE)

function document(body: string, port = 8080): string {
  return `version: 1
listeners: [{ address: ":${port}", health: true }]
drain: { delay: 0s, timeout: 20s }
log: { sink: file }
admin: { tokens: [{ id: ops, role: admin, sha256: "\${env:ADMIN_SHA256}" }] }
routes: [{ id: all, match: { path: /* }, respond: { body: "${body}" } }]
`
}

/** A TCP proxy to the API server that can be interrupted. */
class Wire {
  readonly #target: URL
  readonly #server: net.Server
  readonly #sockets = new Set<net.Socket>()
  #isCut = false

  constructor(t: TestContext, target: URL) {
    this.#target = target
    this.#server = net.createServer((socket) => this.#join(socket))
    t.after(() => {
      this.cut()
      this.#server.close()
    })
  }

  async open(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as net.AddressInfo).port
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  #join(socket: net.Socket): void {
    if (this.#isCut) return void socket.destroy()
    const far = net.connect(Number(this.#target.port), this.#target.hostname)
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      this.#sockets.add(one)
      one.pipe(other)
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
  }
}

/** Returns a kubeconfig that connects to the API server through the proxy. */
async function kubeconfigOver(t: TestContext): Promise<{ readonly wire: Wire; readonly file: string }> {
  const config = JSON.parse(kubectl(['config', 'view', '--raw', '--flatten', '-o', 'json']))
  const cluster = config.clusters[0].cluster
  const target = new URL(cluster.server)
  const wire = new Wire(t, target)
  cluster.server = `https://127.0.0.1:${await wire.open()}`
  cluster['tls-server-name'] = target.hostname
  return { wire, file: fileWith(t, JSON.stringify(config), 'kubeconfig') }
}

test('gw deploy kubernetes with external faults', { skip: noCluster }, async (t) => {
  kubectl(['create', 'namespace', NAMESPACE])
  t.after(() => kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']))
  const digest = createHash('sha256').update(TOKEN).digest('hex')
  inNamespace('create', 'secret', 'generic', 'words', `--from-literal=ADMIN_SHA256=${digest}`)
  const token = ['--token-file', fileWith(t, TOKEN, 'token')]
  const settings = ['--tier', 'W1', '--replicas', '2', '--image', clusterImage, '--secret', 'words']
  expectExit(await deploy(t, document('one'), ...token, ...settings), 0)
  assert.deepEqual(await answers(), ['one', 'one'])

  await t.test('without the token of the admin API, nothing changes', async (t) => {
    const wrong = ['--token-file', fileWith(t, 'another-token', 'token')]
    for (const more of [[], wrong]) {
      const refused = await deploy(t, document('two'), ...more)
      expectExit(refused, 4)
      assert.match(refused.stderr, /^the gateway at pod sluice-\S+ answered 401: /m)
    }
    assert.deepEqual(await answers(), ['one', 'one'])
    assert.doesNotMatch(inNamespace('get', 'configmap', 'sluice', '-o', 'jsonpath={.data}'), /two/)
  })

  await t.test('a pod that only has the labels of a gateway gets no requests', async (t) => {
    const labels = 'app.kubernetes.io/name=sluice,app.kubernetes.io/instance=sluice'
    // It logs everything that it receives on the port of the admin API.
    const script = `require('http').createServer((q, s) => { console.log('HEARD', q.headers.authorization); s.end('{}') }).listen(9901)`
    const command = ['--command', '--', '/usr/bin/env', 'node', '-e', script]
    inNamespace('run', 'stranger', `--image=${clusterImage}`, `--labels=${labels}`, ...command)
    t.after(() => inNamespace('delete', 'pod', 'stranger', '--now'))
    inNamespace('wait', '--for=condition=Ready', 'pod/stranger', '--timeout=60s')
    assert.ok(pods().includes('stranger'))
    const reload = await deploy(t, document('two'), ...token)
    expectExit(reload, 0)
    assert.match(reload.stdout, /^2 pods reload without a restart: sluice-\S+, sluice-\S+$/m)
    const status = await run('status', '--kubernetes', ...inPlace, ...token)
    assert.match(status.stdout, /^gateway sluice in hostile: 2 of 2 pods ready/m)
    assert.equal(inNamespace('logs', 'stranger'), '')
  })

  await t.test('an outage of the API server delays a deployment', async (t) => {
    const { wire, file } = await kubeconfigOver(t)
    const over = ['--kubeconfig', file, ...token]
    for (const [text, begun] of [
      [document('three', 8081), /pods updated/],
      [document('four', 8081), /preparing the document in \d+ pods/],
    ] as const) {
      const args = ['deploy', 'kubernetes', '-c', fileWith(t, text), ...inPlace, '--timeout', '2m', ...over]
      const { exited, stdout, stderr } = spawnGw(t, args, { timeout: 180_000 })
      await until(() => begun.test(stderr()))
      wire.cut()
      await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS))
      wire.mend()
      const outcome = { code: await exited, stdout: stdout(), stderr: stderr() }
      said.push(outcome.stdout, outcome.stderr)
      // Either no pod was reachable before any change, or all pods have the document in the end.
      if (outcome.code === 5) assert.match(outcome.stderr, /^nothing was changed$/m)
      else expectExit(outcome, 0)
      const body = outcome.code === 5 ? 'three' : /body: "(\w+)"/.exec(text)![1]!
      assert.deepEqual(await answers(), [body, body])
    }
    assert.equal(inNamespace('get', 'leases', '-o', 'name'), '')
  })

  await t.test('a gateway with the name of a revision keeps its document', async (t) => {
    const { revisions } = JSON.parse(
      (await run('history', '--kubernetes', ...inPlace, '-o', 'json')).stdout,
    ) as { revisions: { number: number }[] }
    const name = `sluice-revision-${revisions[0]!.number + 1}`
    const labels = ['name=sluice', `instance=${name}`, 'managed-by=gw'].map(
      (label) => `app.kubernetes.io/${label}`,
    )
    inNamespace('create', 'configmap', name, '--from-literal=gateway.yaml=theirs')
    inNamespace('label', 'configmap', name, ...labels)
    const refused = await deploy(t, document('five', 8081), ...token)
    expectExit(refused, 1)
    assert.match(
      refused.stderr,
      new RegExp(`^ConfigMap/${name} in hostile belongs to the gateway ${name}`, 'm'),
    )
    assert.equal(inNamespace('get', 'configmap', name, '-o', 'jsonpath={.data}'), '{"gateway.yaml":"theirs"}')
  })

  assert.equal(said.join('').includes(TOKEN), false)
})
