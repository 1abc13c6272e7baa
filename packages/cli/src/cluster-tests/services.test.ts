import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { clusterImage, kubectl, noCluster } from '../testing/cluster.js'
import { fileWith, gw, until } from '../testing.js'

// Service discovery (k8s:// targets) with a real API server, a pod's service account and changing pods.

const NAMESPACE = 'shop'
const BASE = `version: 1
listeners: [{ address: ":8080", health: true }]
drain: { delay: 0s, timeout: 20s }
log: { sink: none }
`
/** Document that responds with the name of the pod. The container runtime sets HOSTNAME. */
const BACKEND = `${BASE}routes: [{ id: all, match: { path: /* }, respond: { body: "\${env:HOSTNAME:-nobody}" } }]\n`
const FRONT = `${BASE}upstreams: { backend: { targets: [ "k8s://backend.${NAMESPACE}:http" ] } }
routes: [{ id: all, match: { path: /* }, upstream: backend }]
`

async function deploy(t: TestContext, name: string, text: string, replicas: number): Promise<void> {
  const more = ['--tier', 'W1', '--replicas', String(replicas), '--image', clusterImage]
  const place = ['--name', name, '--namespace', NAMESPACE]
  const args = ['deploy', 'kubernetes', '-c', fileWith(t, text), ...place, ...more]
  const { code, stderr } = await gw(args, { timeout: 180_000 })
  assert.equal(code, 0, stderr)
}

interface Slice {
  readonly endpoints:
    | readonly {
        readonly conditions: { readonly ready: boolean }
        readonly targetRef: { readonly name: string }
      }[]
    | null
}

const inNamespace = (...args: readonly string[]): string => kubectl(['-n', NAMESPACE, ...args])

/** Returns the backend pods that are not terminating. */
function readyPods(): string[] {
  const slices = inNamespace(
    'get',
    'endpointslices',
    '-l',
    'kubernetes.io/service-name=backend',
    '-o',
    'json',
  )
  const { items } = JSON.parse(slices) as { readonly items: readonly Slice[] }
  const endpoints = items.flatMap((slice) => slice.endpoints ?? [])
  return endpoints
    .filter(({ conditions }) => conditions.ready)
    .map(({ targetRef }) => targetRef.name)
    .sort()
}

test('a gateway follows the pods of a Service', { skip: noCluster }, async (t) => {
  kubectl(['create', 'namespace', NAMESPACE])
  t.after(() => kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']))
  await deploy(t, 'backend', BACKEND, 2)
  await deploy(t, 'front', FRONT, 1)
  const front = inNamespace('get', 'service', 'front', '-o', 'jsonpath={.spec.clusterIP}')
  const failures: string[] = []
  const ask = async (): Promise<string> => {
    // Waiting for kubectl takes longer than the keep-alive timeout.
    const answer = await fetch(`http://${front}/`, { headers: { connection: 'close' } })
    const text = await answer.text()
    if (answer.status !== 200) failures.push(`${answer.status} ${text}`)
    return text
  }
  /** Sends requests until exactly the ready pods respond. */
  const answeredByAll = (): Promise<void> =>
    until(async () => {
      const seen = new Set(await Promise.all(Array.from({ length: 20 }, ask)))
      return [...seen].sort().join() === readyPods().join()
    })
  assert.equal(readyPods().length, 2)
  await answeredByAll()
  inNamespace('scale', 'deployment', 'backend', '--replicas=3')
  inNamespace('rollout', 'status', 'deployment/backend', '--timeout=2m')
  await answeredByAll()
  const [victim] = readyPods()
  inNamespace('delete', 'pod', victim!, '--wait=false')
  await until(() => !readyPods().includes(victim!))
  await answeredByAll()
  assert.deepEqual(failures, [])
})
