import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gatewayObjects } from '../kubernetes/objects/gateway-objects.js'
import { objectsYaml } from '../kubernetes/objects/object.js'
import { askKubectl, clusterImage, hasMetrics, kubectl, noCluster } from '../testing/cluster.js'
import { deployTo, digestsOf, type Member } from '../testing/fleet.js'
import { KnownLoad } from '../testing/known-load.js'
import { countRecords, hasAllRecords } from '../testing/known-records.js'
import { METRICS_SERVER } from '../testing/metrics-server.js'
import { until } from '../testing.js'

// Pod faults under steady load on persistent connections to the Service. Only requests in flight on a killed pod may fail,
// and each request has one record.

const NAMESPACE = 'faults'
const RELOADS = 20
/** Number of clients per listener. */
const CLIENTS = 8
/** Maximum number of `until` calls in `untilPods`. */
const PATIENCE = 4
/** Pauses between requests, in milliseconds, that make the autoscaler add or remove pods. */
const BUSY_MS = 0
const QUIET_MS = 500

/** Runs kubectl without blocking the load. */
const inNamespace = (...args: readonly string[]): Promise<string> => askKubectl(['-n', NAMESPACE, ...args])

function document(route: string, more = ''): string {
  return `version: 1
listeners:
  - { address: ":8080", engine: uws }
  - { address: ":8081", engine: node }
metrics: { address: ":9902" }
workers: 1
drain: { delay: 5s, timeout: 10s }
routes:
  - id: ${route}
    match: { path: /* }
    policies: [{ use: header, with: { response: { set: { x-pod: "\${env:POD_NAME}" } } } }]
    respond: { status: 200, body: ok }
log: { sink: file, file: { dir: "/var/log/sluice/\${env:POD_NAME}" } }
${more}`
}

/** Deploys three gateways. Their logs remain in the folder after the pods are gone. */
async function apply(folder: string, text: string): Promise<void> {
  const { objects } = gatewayObjects(text, {
    name: 'edge',
    namespace: NAMESPACE,
    managedBy: 'gw',
    image: clusterImage,
    imagePullPolicy: 'Never',
    tier: 'W1',
    replicas: 3,
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
    extraEnv: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    extraVolumes: [{ name: 'logs', hostPath: { path: folder } }],
    extraVolumeMounts: [{ name: 'logs', mountPath: '/var/log/sluice' }],
  })
  await askKubectl(['apply', '-f', '-'], objectsYaml(objects))
}

interface PodFacts {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function allPods(): Promise<PodFacts[]> {
  return JSON.parse(await inNamespace('get', 'pods', '-o', 'json')).items
}

/** Returns the pods that are not terminating. */
async function pods(): Promise<PodFacts[]> {
  return (await allPods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

const nameOf = ({ metadata }: PodFacts): string => metadata.name
const names = async (): Promise<string[]> => (await pods()).map(nameOf)
const readyNames = async (): Promise<string[]> => (await pods()).filter(isReady).map(nameOf)

function isReady({ status }: PodFacts): boolean {
  return status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

/** Waits longer than `until`, because of grace periods and the interval of autoscalers. */
async function untilPods(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; tries < PATIENCE; tries++) {
    const isMet = await until(condition).then(
      () => true,
      () => false,
    )
    if (isMet) return
  }
  await until(condition)
}

/** Waits until exactly this number of pods is ready and no other pod is left. */
async function settled(count: number): Promise<void> {
  await untilPods(async () => {
    const all = await allPods()
    return all.length === count && all.every(isReady)
  })
}

/** Admin APIs of pods through port forwarding. */
async function forwardTo(t: TestContext, names: readonly string[]): Promise<Member[]> {
  return Promise.all(
    names.map(async (name) => {
      const forward = spawn('kubectl', ['-n', NAMESPACE, 'port-forward', `pod/${name}`, ':9901'])
      t.after(() => forward.kill())
      return { admin: `http://127.0.0.1:${await portOf(forward)}` }
    }),
  )
}

async function portOf(forward: ChildProcess): Promise<string> {
  let text = ''
  forward.stdout!.on('data', (chunk) => {
    text += String(chunk)
  })
  const port = (): string | undefined => /127\.0\.0\.1:(\d+)/.exec(text)?.[1]
  await until(() => port() !== undefined)
  return port()!
}

/** Sends SIGKILL to the processes of a pod's container. */
function kill({ metadata }: PodFacts): void {
  const isOf = (pid: string): boolean =>
    textOf(`/proc/${pid}/cgroup`).includes(metadata.uid) && textOf(`/proc/${pid}/cmdline`).includes('node')
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOf(name))
  assert.ok(pids.length >= 3, 'a parent, a supervisor and a worker')
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL')
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The process has exited.
    return ''
  }
}

/** Requests an eviction. Returns false if the PodDisruptionBudget does not allow it yet. */
async function evict(name: string): Promise<boolean> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } }
  const place = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`
  const asked = askKubectl(['create', '--raw', place, '-f', '-'], JSON.stringify(eviction))
  const problem = await asked.then(() => '', String)
  assert.ok(problem === '' || problem.includes('disruption budget'), problem)
  return problem === ''
}

test('a Deployment whose pods are replaced, reloaded, killed, evicted and scaled', {
  skip: noCluster,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pod-logs-'))
  chmodSync(folder, 0o777)
  kubectl(['create', 'namespace', NAMESPACE])
  t.after(() => {
    kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
    rmSync(folder, { recursive: true })
  })
  if (hasMetrics) kubectl(['apply', '-f', '-'], METRICS_SERVER)
  await apply(folder, document('first'))
  await settled(3)
  const service = JSON.parse(await inNamespace('get', 'service', 'edge', '-o', 'json'))
  const { clusterIP, ports } = service.spec as { clusterIP: string; ports: { port: number }[] }
  const connectTo = (port: number) => (): net.Socket => net.connect(port, clusterIP)
  const places = ports.map(({ port }) => connectTo(port))
  const podOf = new WeakMap<net.Socket, string>()
  const load = new KnownLoad<string>(places, {
    clients: CLIENTS,
    serverOf: (socket, answer) => {
      const name = answer?.headers['x-pod']
      if (typeof name === 'string') podOf.set(socket, name)
      return podOf.get(socket) ?? ''
    },
  }).begin()
  t.after(() => load.stop())
  await load.served(await names(), 20)
  const report = (what: string, beginMono: number, before: number): void =>
    t.diagnostic(
      `${what}: ${load.answered.size - before} requests in ${((performance.now() - beginMono) / 1000).toFixed(0)} s, ${load.failures.length} failed so far`,
    )
  const step = (what: string, act: (t: TestContext) => Promise<void>, skip: string | false = false) =>
    t.test(what, { skip }, async (t) => {
      const [beginMono, before] = [performance.now(), load.answered.size]
      await act(t)
      await load.served(await names(), 20)
      report(what, beginMono, before)
    })

  await step(`${RELOADS} reloads of all pods`, async (t) => {
    const before = await names()
    const members = await forwardTo(t, before)
    for (let i = 1; i <= RELOADS; i++) assert.equal(await deployTo(members, document(`route-${i}`)), 3)
    assert.equal(new Set(await digestsOf(members)).size, 1)
    assert.deepEqual(await names(), before)
    assert.deepEqual(load.problems, [])
  })

  await step('a broken document is refused', async (t) => {
    const before = await names()
    const members = await forwardTo(t, before)
    const digests = await digestsOf(members)
    assert.equal(await deployTo(members, document('broken', 'routs: []')), 0)
    assert.deepEqual(await digestsOf(members), digests)
    // A rollout through the ConfigMap stops at the first new pod.
    await apply(folder, document('broken', 'routs: []'))
    await untilPods(async () => (await inNamespace('get', 'pods')).includes('CrashLoopBackOff'))
    assert.deepEqual(await readyNames(), before)
    await inNamespace('rollout', 'undo', 'deployment/edge')
    await settled(3)
    assert.deepEqual(await names(), before)
    assert.deepEqual(load.problems, [])
  })

  await step('a rolling update', async () => {
    const before = await names()
    await apply(folder, document('second'))
    await inNamespace('rollout', 'status', 'deployment/edge', '--timeout=3m')
    await settled(3)
    assert.deepEqual(
      (await names()).filter((name) => before.includes(name)),
      [],
    )
    assert.deepEqual(load.problems, [])
  })

  await step('all pods of a node are evicted', async () => {
    const before = await names()
    for (const name of before) await untilPods(() => evict(name))
    await settled(3)
    assert.deepEqual(
      (await names()).filter((name) => before.includes(name)),
      [],
    )
    assert.deepEqual(load.problems, [])
  })

  const [victim] = await pods()
  const { name } = victim!.metadata
  const seen = load.answeredBy(name)
  await step('a pod is killed', async () => {
    await until(() => hasAllRecords(countRecords(join(folder, name)), seen))
    kill(victim!)
    await until(async () => !(await readyNames()).includes(name))
    await settled(3)
    assert.deepEqual(
      load.failures.filter(({ server }) => server !== name && server !== ''),
      [],
    )
    // kube-proxy uses a pod until its readiness probe fails, but its port is already closed.
    assert.ok(load.failures.length <= 2 * CLIENTS, JSON.stringify(load.failures))
    t.diagnostic(
      `the kill cost ${load.failures.length} requests in flight; ${load.refused.length} connections were refused, and made again`,
    )
  })

  const { length: before } = load.problems
  const noMetrics = !hasMetrics && 'needs metrics-server, which could not be fetched'
  const scale = async (): Promise<void> => {
    await inNamespace('scale', 'deployment/edge', '--replicas=2')
    await inNamespace('autoscale', 'deployment/edge', '--cpu-percent=50', '--min=2', '--max=5')
    const behavior = { behavior: { scaleDown: { stabilizationWindowSeconds: 15 } } }
    await inNamespace('patch', 'hpa', 'edge', '--type=merge', '-p', JSON.stringify({ spec: behavior }))
    await settled(2)
    load.pauseMs = BUSY_MS
    await settled(5)
    load.pauseMs = QUIET_MS
    await settled(2)
    assert.equal(load.problems.length, before)
  }
  await step('from two pods to five, and back to two, by their CPU time', scale, noMetrics)

  await t.test('each request has one record', async () => {
    await load.stop()
    await inNamespace('delete', 'hpa', 'edge', '--ignore-not-found')
    await inNamespace('scale', 'deployment/edge', '--replicas=0')
    await settled(0)
    for (const server of new Set(load.answered.values())) {
      const records = countRecords(join(folder, server))
      // Records of the last responses of the killed pod are lost.
      assert.ok(hasAllRecords(records, server === name ? seen : load.answeredBy(server)), server)
      assert.ok(
        [...records.values()].every((count) => count === 1),
        server,
      )
    }
    t.diagnostic(
      `${load.answered.size} requests in all, ${load.failures.length} failed, each answer has one record`,
    )
  })
})
