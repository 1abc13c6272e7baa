import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countRecords, killPod, type Pod, ServiceLoad, startPod, stopPod } from './testing/pods.js'
import { origin, statusOf, until } from './testing.js'

// What befalls the pods of a Service, with gateways on this machine in their place: under steady load on kept connections
// no request fails but those in flight on one that is killed, and each has one record.

const RELOADS = 20
/** On each of two listeners. */
const CLIENTS = 4

/** One document for all, which differ in the folder of the log only. */
function documentFor(target: string, route = 'all'): string {
  return `version: 1
listeners:
  - { address: "127.0.0.1:0", engine: uws }
  - { address: "127.0.0.2:0", engine: node }
admin: { address: "127.0.0.1:0" }
workers: 1
drain: { delay: 300ms, timeout: 10s }
upstreams: { up: { targets: ["${target}"] } }
routes: [{ id: ${route}, match: { path: /* }, upstream: up }]
log: { sink: file, file: { dir: "\${env:LOG_DIR}" } }
`
}

/** @returns the digest of the document that the pod holds ready; null: it refuses it. */
async function prepare({ admin }: Pod, text: string): Promise<string | null> {
  const headers = { 'content-type': 'application/yaml' }
  const answer = await fetch(`${admin}/v1/config?hold=30s`, { method: 'PUT', headers, body: text })
  const { digest } = (await answer.json()) as { digest: string }
  return answer.status === 200 ? digest : null
}

async function settle({ admin }: Pod, digest: string, verb: 'activate' | 'discard'): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ digest })
  const answer = await fetch(`${admin}/v1/config/${verb}`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200, await answer.text())
}

/** All of them change, or none: answers how many can. */
async function deploy(pods: readonly Pod[], text: string): Promise<number> {
  const digests = await Promise.all(pods.map((pod) => prepare(pod, text)))
  const able = digests.filter((digest) => digest !== null).length
  const verb = able === pods.length ? 'activate' : 'discard'
  await Promise.all(pods.map(async (pod, i) => digests[i] !== null && settle(pod, digests[i]!, verb)))
  return able
}

const isEachIn = (records: ReadonlyMap<number, number>, ids: readonly number[]): boolean =>
  ids.every((id) => records.has(id))

const digestsOf = (pods: readonly Pod[]): Promise<string[]> =>
  Promise.all(pods.map(async ({ admin }) => (await statusOf(admin)).digest))

test('gateways in place of pods', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const document = documentFor(target)
  const all: Pod[] = []
  const start = async (env = {}): Promise<Pod> => {
    const pod = await startPod(t, document, env)
    all.push(pod)
    return pod
  }
  let pods: readonly Pod[] = await Promise.all([start({ GREETING: 'a' }), start({ GREETING: 'a' }), start()])
  const load = new ServiceLoad(pods, CLIENTS)
  t.after(() => load.stop())
  const grow = async (): Promise<Pod> => {
    const pod = await start()
    load.add(pod)
    return pod
  }
  await load.served(pods, 20)

  await t.test(`${RELOADS} reloads of all three at once`, async () => {
    for (let i = 1; i <= RELOADS; i++) assert.equal(await deploy(pods, documentFor(target, `all-${i}`)), 3)
    assert.equal(new Set(await digestsOf(pods)).size, 1)
    assert.deepEqual(load.failures, [])
  })

  await t.test('a document that is broken, or that one of them cannot take, changes none', async () => {
    const before = await digestsOf(pods)
    assert.equal(await deploy(pods, document.replace('upstream: up', 'upstream: none')), 0)
    const policy = `upstream: up, policies: [{ use: header, with: { response: { set: { x-greeting: "\${env:GREETING}" } } } }]`
    assert.equal(await deploy(pods, document.replace('upstream: up', policy)), 2)
    assert.deepEqual(await digestsOf(pods), before)
    assert.deepEqual(load.failures, [])
  })

  await t.test('a rolling restart', async () => {
    for (const pod of pods) {
      const [code, next] = await Promise.all([stopPod(pod), grow()])
      assert.equal(code, 0)
      pods = [...pods.filter((other) => other !== pod), next]
    }
    await load.served(pods, 20)
    assert.deepEqual(load.failures, [])
  })

  const victim = pods[0]!
  const seen = load.answeredBy(victim)
  await t.test('one of them is killed', async () => {
    await until(() => isEachIn(countRecords(victim), seen))
    await killPod(victim)
    pods = pods.filter((pod) => pod !== victim)
    await until(() => !load.readyPods.includes(victim))
    await load.served(pods, 20)
    assert.deepEqual(
      load.failures.filter(({ pod }) => pod !== victim),
      [],
    )
    // Others could not connect in the moment before its endpoint was gone: their requests were never sent.
    const inFlight = load.failures.filter(({ why }) => !why.includes('ECONNREFUSED'))
    assert.ok(inFlight.length <= 2 * CLIENTS, JSON.stringify(inFlight.map(({ why }) => why)))
  })

  await t.test('from two to five, and back to two', async () => {
    const { length } = load.failures
    const more = await Promise.all([grow(), grow(), grow()])
    await until(() => more.every((pod) => load.readyPods.includes(pod)))
    pods = [...pods, ...more]
    const gone = pods.slice(0, 3)
    pods = pods.slice(3)
    assert.deepEqual(await Promise.all(gone.map(stopPod)), [0, 0, 0])
    await load.served(pods, 20)
    assert.equal(load.failures.length, length)
  })

  await t.test('each request has one record', async () => {
    await load.stop()
    assert.deepEqual(await Promise.all(pods.map(stopPod)), [0, 0])
    for (const pod of all) {
      const records = countRecords(pod)
      // What the victim answered in its last moment went with it.
      const expected = pod === victim ? seen : load.answeredBy(pod)
      assert.ok(isEachIn(records, expected))
      assert.equal(Math.max(...records.values()), 1)
    }
    t.diagnostic(`${load.answered.size} requests, ${load.failures.length} failed on the one that was killed`)
  })
})
