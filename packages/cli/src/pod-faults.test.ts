import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deployTo, digestsOf } from './testing/fleet.js'
import { countRecords, hasAllRecords } from './testing/known-records.js'
import { killPod, type Pod, ServiceLoad, startPod, stopPod } from './testing/pods.js'
import { origin, until } from './testing.js'

// What befalls the pods of a Service, with gateways on this machine in their place: under steady load on kept connections
// no request fails but those in flight on one that is killed, and each has one record.

const RELOADS = 10
/** Clients of each of two listeners. */
const CLIENTS = 4
/** Response time in milliseconds. It leaves CPU time for starting gateways. */
const ANSWER_MS = 20

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

test('gateways that simulate pods', async (t) => {
  const target = await origin(t, (_, res) => setTimeout(() => res.end('ok'), ANSWER_MS))
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
    for (let i = 1; i <= RELOADS; i++) assert.equal(await deployTo(pods, documentFor(target, `all-${i}`)), 3)
    assert.equal(new Set(await digestsOf(pods)).size, 1)
    assert.deepEqual(load.problems, [])
  })

  await t.test('a document that is broken or that one member rejects changes none', async () => {
    const before = await digestsOf(pods)
    assert.equal(await deployTo(pods, document.replace('upstream: up', 'upstream: none')), 0)
    const policy = `upstream: up, policies: [{ use: header, with: { response: { set: { x-greeting: "\${env:GREETING}" } } } }]`
    assert.equal(await deployTo(pods, document.replace('upstream: up', policy)), 2)
    assert.deepEqual(await digestsOf(pods), before)
    assert.deepEqual(load.problems, [])
  })

  await t.test('a rolling restart', async () => {
    for (const pod of pods) {
      const [code, next] = await Promise.all([stopPod(pod), grow()])
      assert.equal(code, 0)
      pods = [...pods.filter((other) => other !== pod), next]
    }
    await load.served(pods, 20)
    assert.deepEqual(load.problems, [])
  })

  const victim = pods[0]!
  const seen = load.answeredBy(victim)
  await t.test('one gateway is killed', async () => {
    await until(() => hasAllRecords(countRecords(victim.logDir), seen))
    await killPod(victim)
    pods = pods.filter((pod) => pod !== victim)
    await until(() => !load.readyPods.includes(victim))
    await load.served(pods, 20)
    assert.deepEqual(
      load.failures.filter(({ server }) => server !== victim),
      [],
    )
    // Others could not connect in the moment before its endpoint was gone: their requests were sent elsewhere.
    assert.ok(load.failures.length <= 2 * CLIENTS, JSON.stringify(load.failures.map(({ why }) => why)))
  })

  await t.test('scaling from two to five and back', async () => {
    const { length } = load.problems
    const more = await Promise.all([grow(), grow(), grow()])
    await load.served(more, 5)
    pods = [...pods, ...more]
    const gone = pods.slice(0, 3)
    pods = pods.slice(3)
    assert.deepEqual(await Promise.all(gone.map(stopPod)), [0, 0, 0])
    await load.served(pods, 20)
    assert.equal(load.problems.length, length)
  })

  await t.test('each request has one record', async () => {
    await load.stop()
    assert.deepEqual(await Promise.all(pods.map(stopPod)), [0, 0])
    for (const pod of all) {
      const records = countRecords(pod.logDir)
      // What the victim answered in its last moment went with it.
      const expected = pod === victim ? seen : load.answeredBy(pod)
      assert.ok(expected.length > 0)
      assert.ok(hasAllRecords(records, expected))
      assert.equal(Math.max(...records.values()), 1)
    }
    t.diagnostic(`${load.answered.size} requests, ${load.failures.length} failed on the one that was killed`)
  })
})
