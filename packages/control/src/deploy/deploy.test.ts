import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, asyncProperty, assert as check, constantFrom, integer, oneof, record } from 'fast-check'
import { CONTROLLER } from '../state/control-log.js'
import { fleetOf } from './fleet.js'
import { FakeCluster, type FakeController } from './testing/cluster.js'

/** Two controllers; the first two members are connected to the first one, the last one to the second one. */
async function pair() {
  const cluster = new FakeCluster(3)
  const [a, b] = [await cluster.controller(), await cluster.controller()]
  for (const [i, member] of cluster.members.entries()) member.connect(i < 2 ? a : b)
  await cluster.settle()
  return { cluster, a, b }
}

const CANARY = { size: '1', forMs: 10_000, abortOn: 'errors > 1%' }

/** Checks what holds at any time: members except canaries activate committed bundles only, in the order of the log. */
async function checkSafety(cluster: FakeCluster): Promise<void> {
  const deploys = await cluster.deploys()
  for (const { id, activated } of cluster.members) {
    for (const [number, digest] of activated) {
      const known = deploys.find(({ deploy }) => deploy === number)
      // Canaries return to a committed bundle with a number of its own.
      const isReturn =
        known === undefined && deploys.some((one) => one.digest === digest && one.status === 'committed')
      const isCanary = known?.canary?.members.some(({ member }) => member === id)
      assert.ok(isReturn || isCanary || known?.status === 'committed', `${id} activated deploy ${number}`)
      if (known !== undefined) assert.equal(known.digest, digest)
    }
    assert.deepEqual(
      activated.map(([deploy]) => deploy).sort((x, y) => x - y),
      activated.map(([deploy]) => deploy),
    )
  }
}

/** Brings all members back and checks that they serve the same. */
async function checkConvergence(cluster: FakeCluster): Promise<void> {
  const controller = await cluster.controller()
  for (const member of cluster.members) {
    member.behaviour = 'prepare'
    if (member.connectedTo === null) member.connect(controller)
  }
  await cluster.pass(700_000, 5000)
  const deploys = await cluster.deploys()
  assert.deepEqual(
    deploys.filter(({ status }) => status === 'pending'),
    [],
  )
  const head = deploys.findLast(({ status }) => status === 'committed')?.digest ?? null
  for (const { id, digest } of cluster.members) assert.equal(digest, head, id)
  await checkSafety(cluster)
}

test('members of several controllers activate together', async () => {
  const { cluster, a } = await pair()
  const started = await cluster.deploy(a)
  assert.equal(started.kind, 'started')
  const result = started.kind === 'started' ? await started.run.done : null
  assert.deepEqual(
    result?.members.map(({ outcome }) => outcome),
    ['active', 'active', 'active'],
  )
  for (const { received } of cluster.members) assert.deepEqual(received, ['prepare 1', 'activate 1'])
})

for (const canary of [null, CANARY])
  test(`a controller killed at any step ${canary === null ? '' : 'of a canary '}leaves all members with one document`, () =>
    killAtAnyStep(canary))

async function killAtAnyStep(canary: typeof CANARY | null): Promise<void> {
  let wasCommitted = false
  let wasAborted = false
  for (let step = 0.5; ; step += canary === null ? 0.5 : 2.5) {
    const { cluster, a, b } = await pair()
    await cluster.deploy(a)
    await cluster.settle()
    const { calls } = a.store
    let isKilled = false
    a.store.onCall = (at) => {
      if (isKilled || at - calls < step) return
      isKilled = true
      cluster.kill(a)
    }
    void cluster.deploy(a, { canary }).catch(() => {})
    await (canary === null ? cluster.settle() : cluster.pass(20_000, 5000))
    if (!isKilled) {
      assert.ok(wasCommitted && wasAborted)
      return
    }
    await checkSafety(cluster)
    for (const member of cluster.members) if (member.connectedTo === null) member.connect(b)
    await cluster.pass(15_000)
    const [, deploy] = await cluster.deploys()
    assert.notEqual(deploy?.status, 'pending', `step ${step}`)
    if (deploy?.status === 'committed') wasCommitted = true
    else wasAborted = true
    await checkConvergence(cluster)
  }
}

test('a refusing member aborts a deploy at once', async () => {
  const { cluster, a } = await pair()
  cluster.members[2]!.behaviour = 'refuse'
  const started = await cluster.deploy(a)
  const result = started.kind === 'started' ? await started.run.done : null
  assert.deepEqual(result?.reasons, ['m2 refused: no'])
  await cluster.settle()
  assert.deepEqual(cluster.members[0]!.received, ['prepare 1', 'discard 1'])
})

test('a member that hangs aborts a deploy at its deadline', async () => {
  const { cluster, a } = await pair()
  cluster.members[2]!.behaviour = 'hang'
  await cluster.deploy(a, { deadlineMs: 5000 })
  await cluster.pass(4500)
  assert.equal((await cluster.deploys())[0]?.status, 'pending')
  await cluster.pass(1000)
  assert.deepEqual((await cluster.deploys())[0]?.reasons, ['m2 did not answer in time'])
})

test('members that are away count as missing, and catch up when they return', async () => {
  const { cluster, a } = await pair()
  const away = cluster.members[1]!
  away.cut()
  await cluster.settle()
  await cluster.deploy(a)
  await cluster.settle()
  assert.deepEqual((await cluster.deploys())[0]?.missing, ['m1'])
  away.connect(a)
  await cluster.settle()
  assert.deepEqual(away.received, ['serve 1'])
  await checkConvergence(cluster)
})

test('too few members abort a deploy at its deadline, unless enough return before', async () => {
  for (const isBack of [false, true]) {
    const { cluster, a } = await pair()
    cluster.members[0]!.cut()
    cluster.members[1]!.cut()
    await cluster.settle()
    await cluster.deploy(a, { deadlineMs: 5000 })
    await cluster.pass(4000)
    if (isBack) cluster.members[0]!.connect(a)
    await cluster.pass(2000)
    const [deploy] = await cluster.deploys()
    if (isBack) assert.equal(deploy?.status, 'committed')
    else assert.deepEqual(deploy?.reasons, ['1 of 3 members are prepared, but 2 are required'])
  }
})

test('of two deploys at once, one is refused', async () => {
  const { cluster, a, b } = await pair()
  const results = await Promise.all([cluster.deploy(a), cluster.deploy(b)])
  assert.deepEqual(results.map(({ kind }) => kind).sort(), ['busy', 'started'])
  await checkConvergence(cluster)
})

test('a lost store aborts nothing by itself, and the decision is written when it is back', async () => {
  const { cluster, a } = await pair()
  a.store.onCall = () => {}
  const started = await cluster.deploy(a)
  a.store.isDown = true
  await cluster.pass(3000)
  a.store.isDown = false
  await cluster.pass(3000)
  assert.equal(started.kind === 'started' && (await started.run.done).result, 'committed')
  assert.deepEqual(cluster.events.filter((event) => event.startsWith('store.')).at(0), 'store.unavailable')
})

test('clocks that differ by ten minutes change nothing and are reported', async () => {
  const cluster = new FakeCluster(2)
  const [a, b] = [await cluster.controller(), await cluster.controller(600_000)]
  cluster.members[0]!.clockMs = -600_000
  cluster.members[0]!.connect(a)
  cluster.members[1]!.connect(b)
  await cluster.settle()
  await cluster.deploy(b)
  await cluster.pass(20_000)
  const fleet = fleetOf(a.core.log.state, a.core.fleet.members())
  assert.deepEqual(
    fleet.map(({ status, clockDifferenceMs }) => [status, clockDifferenceMs]),
    [
      ['inSync', -600_000],
      ['inSync', 0],
    ],
  )
})

test('a member that cannot activate the committed bundle is asked less and less often', async () => {
  const { cluster, a } = await pair()
  const bad = cluster.members[0]!
  bad.cut()
  await cluster.settle()
  await cluster.deploy(a)
  await cluster.settle()
  bad.behaviour = 'refuse'
  bad.connect(a)
  await cluster.pass(60_000)
  assert.ok(bad.received.length >= 5 && bad.received.length <= 8, `${bad.received.length}`)
  const [shown] = fleetOf(a.core.log.state, a.core.fleet.members()).filter(({ name }) => name === 'm0')
  assert.deepEqual([shown?.status, shown?.reason, shown?.lagDeploys], ['drifted', 'no', 1])
  await checkConvergence(cluster)
})

test('any order of deploys, deaths and cuts ends with one document', async () => {
  const member = integer({ min: 0, max: 2 })
  const step = oneof(
    record({
      kind: constantFrom('deploy', 'canary', 'abort', 'kill', 'start'),
      at: integer({ min: 0, max: 2 }),
    }),
    record({ kind: constantFrom('cut', 'connect', 'refuse', 'hang', 'errors', 'mend'), at: member }),
    record({ kind: constantFrom('pass'), at: integer({ min: 0, max: 40 }) }),
  )
  const run = async (steps: readonly { readonly kind: string; readonly at: number }[]): Promise<void> => {
    const { cluster } = await pair()
    for (const { kind, at } of steps) {
      const controller: FakeController | undefined =
        cluster.controllers[at % Math.max(1, cluster.controllers.length)]
      const subject = cluster.members[at % 3]!
      if ((kind === 'deploy' || kind === 'canary') && controller)
        void cluster
          .deploy(controller, { deadlineMs: 5000, canary: kind === 'canary' ? CANARY : null })
          .catch(() => {})
      else if (kind === 'abort') void controller?.core.coordinator.abort('edge', CONTROLLER).catch(() => {})
      else if (kind === 'errors') subject.respond({ errors: 100 })
      else if (kind === 'kill' && controller) cluster.kill(controller)
      else if (kind === 'start' && cluster.controllers.length < 3) await cluster.controller()
      else if (kind === 'cut') subject.cut()
      else if (kind === 'connect' && controller) subject.connect(controller)
      else if (kind === 'refuse' || kind === 'hang') subject.behaviour = kind
      else if (kind === 'mend') subject.behaviour = 'prepare'
      else if (kind === 'pass') await cluster.pass(at * 500)
      if (at % 2 === 0) await cluster.settle()
    }
    await checkConvergence(cluster)
  }
  await check(asyncProperty(array(step, { maxLength: 15 }), run), { numRuns: 60 })
})
