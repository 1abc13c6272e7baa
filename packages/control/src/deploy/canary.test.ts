import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTROLLER } from '../state/control-log.js'
import { parseAbortCondition } from './abort-condition.js'
import { fleetOf } from './fleet.js'
import { FakeCluster, type FakeController, type FakeMember } from './testing/cluster.js'

const CANARY = { size: '1', forMs: 60_000, abortOn: 'errors > 1% || p99 > 2x' }

/** Two controllers with members that serve one bundle. The last member is connected to the second controller. */
async function cluster(members = 3) {
  const all = new FakeCluster(members)
  const [a, b] = [await all.controller(), await all.controller()]
  for (const [i, member] of all.members.entries()) member.connect(i < members - 1 ? a : b)
  await all.settle()
  const { bundle } = await all.deploy(a)
  await all.settle()
  const [first, ...others] = all.members as [FakeMember, ...FakeMember[]]
  const last = async () => (await all.deploys()).at(-1)!
  const digests = () => all.members.map(({ digest }) => digest)
  return { all, a, b, first, others, old: bundle.digest, last, digests }
}

/** Starts a canary deploy and lets the canaries activate it. */
async function withCanary() {
  const group = await cluster()
  const started = await group.all.deploy(group.a, { canary: CANARY })
  await group.all.pass(1000)
  assert.equal(started.kind, 'started')
  const result = () => (started.kind === 'started' ? started.run.done : null)
  return { ...group, bundle: started.bundle, result }
}

test('a canary that behaves like the others is followed by them, with the figures of its time only', async () => {
  const { all, a, b, first, others, old, bundle, digests, result } = await withCanary()
  assert.deepEqual(digests(), [bundle.digest, old, old])
  first.respond({ fast: 500 })
  for (const other of others) other.respond({ fast: 400, errors: 1 })
  await all.pass(30_000)
  for (const { core } of [a, b]) {
    const progress = core.coordinator.canaryOf('edge')!
    assert.deepEqual([progress.phase, progress.members, progress.connected], ['observing', ['m0'], 3])
    assert.deepEqual([progress.canary.responses, progress.others.responses], [500, 802])
    assert.deepEqual([progress.canary.errors, progress.others.gateways], [0, 2])
    assert.ok(progress.leftMs! > 25_000 && progress.leftMs! < 35_000)
    const statuses = fleetOf(core.log.state, core.fleet.members()).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), ['canary', 'inSync', 'inSync'])
  }
  await all.pass(35_000)
  assert.equal((await result())?.result, 'committed')
  assert.deepEqual(digests(), [bundle.digest, bundle.digest, bundle.digest])
  assert.deepEqual(first.received.slice(-1), ['serve 3'])
  assert.deepEqual(others[0]!.received.slice(-2), ['prepare 3', 'activate 3'])
})

test('errors and slow responses abort, and the canary returns to the bundle before', async () => {
  for (const [traffic, reason] of [
    [{ fast: 90, errors: 10 }, /^errors > 1%: 10\.0% on the canary, 0\.0% on the others$/],
    [{ fast: 90, slow: 10 }, /^p99 > 2x: .* ms on the canary, .* ms on the others$/],
  ] as const) {
    const { all, first, others, old, bundle, result, digests, last } = await withCanary()
    for (const other of others) other.respond({ fast: 100 })
    await all.pass(5000)
    first.respond(traffic)
    await all.pass(5000)
    const { result: outcome, reasons, members } = (await result())!
    assert.equal(outcome, 'aborted')
    assert.match(reasons[0]!, reason)
    assert.deepEqual(
      members.map(({ name, outcome }) => [name, outcome]),
      [['m0', 'active']],
    )
    assert.deepEqual(digests(), [old, old, old])
    assert.deepEqual(
      first.activated.map(([, digest]) => digest),
      [old, bundle.digest, old],
    )
    assert.equal(others.flatMap(({ received }) => received).includes('prepare 3'), false)
    assert.deepEqual((await last()).canary?.members, [{ member: 'm0', name: 'm0' }])
    await all.deploy(all.controllers[0]!)
    await all.settle()
    assert.equal(new Set(digests()).size, 1)
    assert.equal((await last()).status, 'committed')
  }
})

test('errors before the canary do not count, and too little traffic does not abort but is reported', async () => {
  const { all, a, first, others, last } = await cluster()
  first.respond({ errors: 1000 })
  await all.deploy(a, { canary: CANARY })
  await all.pass(1000)
  first.respond({ errors: 19 })
  for (const other of others) other.respond({ fast: 100 })
  await all.pass(65_000)
  const { status, canary } = await last()
  assert.equal(status, 'committed')
  assert.equal(canary?.comparison?.canary.responses, 19)
  assert.deepEqual(canary?.comparison?.notChecked, [
    "'errors > 1%': 19 of the required 20 responses of the canary",
    "'p99 > 2x': 19 of the required 100 responses of the canary",
  ])
})

test('a canary that disconnects, is replaced, refuses, hangs or is not ready aborts the deploy', async () => {
  const cases: readonly (readonly [string, (member: FakeMember) => void, RegExp])[] = [
    ['later', (member) => member.cut(), /^m0 is a canary and has disconnected$/],
    ['later', (member) => Object.assign(member, { drift: 'a local deploy' }).respond(), /a local deploy$/],
    ['later', (member) => Object.assign(member, { isReady: false }).respond(), /^m0 is not ready/],
    ['before', (member) => Object.assign(member, { behaviour: 'refuse' }), /^m0 refused: no$/],
    ['before', (member) => Object.assign(member, { behaviour: 'hang' }), /did not activate .* in time$/],
  ]
  for (const [when, act, reason] of cases) {
    const { all, a, first, old, last, digests } = await cluster()
    if (when === 'before') act(first)
    await all.deploy(a, { canary: CANARY, deadlineMs: 5000 })
    await all.pass(1000)
    if (when === 'later') act(first)
    await all.pass(6000)
    assert.match((await last()).reasons[0]!, reason)
    Object.assign(first, { behaviour: 'prepare', drift: undefined, isReady: true })
    if (first.connectedTo === null) first.connect(a)
    await all.pass(130_000, 5000)
    assert.deepEqual(digests(), [old, old, old])
  }
})

test('canaries need a committed bundle, other gateways to compare with, and counters', async () => {
  const refusal = async ({ all, a }: { all: FakeCluster; a: FakeController }, size = '1') => {
    const started = await all.deploy(a, { canary: { ...CANARY, size } })
    return started.kind === 'noCanary' ? started.reason : started.kind
  }
  const empty = new FakeCluster(2)
  const a = await empty.controller()
  assert.match(await refusal({ all: empty, a }), /has no bundle that canaries could return to/)
  const one = await cluster(1)
  assert.match(await refusal(one), /needs other gateways to compare with, but .* 1 connected gateway$/)
  assert.match(await refusal(await cluster(3), '3'), /has 3 connected gateways$/)
  const older = await cluster(2)
  for (const member of older.all.members) Object.assign(member, { totals: null }).respond()
  await older.all.pass(5000)
  assert.match(await refusal(older), /only 0 of 2 gateways .* report counters/)
  const many = await cluster(9)
  assert.equal(await refusal(many, '25%'), 'started')
  assert.deepEqual(
    (await many.last()).canary?.members.map(({ name }) => name),
    ['m0', 'm1'],
  )
})

test('a canary is aborted by a person or after the death of its controller; new gateways get the old bundle', async () => {
  for (const isDead of [false, true]) {
    const { all, a, b, first, old, last, digests } = await withCanary()
    const busy = await all.deploy(b)
    assert.equal(busy.kind, 'busy')
    if (isDead) all.kill(a)
    else assert.equal(await b.core.coordinator.abort('edge', { ...CONTROLLER, actor: 'ann' }), 3)
    for (const member of all.members) if (member.connectedTo === null) member.connect(b)
    await all.pass(15_000)
    const reason = isDead ? 'the controller that coordinated it stopped' : 'aborted by ann'
    assert.deepEqual((await last()).reasons, [reason])
    assert.deepEqual(digests(), [old, old, old])
    assert.equal(await b.core.coordinator.abort('edge', CONTROLLER), null)
    assert.equal(first.deploy, 5)
  }
  const { all, a, others, old, digests } = await withCanary()
  others[0]!.cut()
  others[0]!.digest = null
  others[0]!.connect(a)
  await all.pass(1000)
  assert.equal(digests()[1], old)
})

test('a wrong condition is refused with the name of the term', () => {
  for (const term of ['errors > 1', 'errors > 5ms', 'p99 > 2%', 'p95 > 1x', 'errors < 1%', 'p99', '']) {
    const { problem } = parseAbortCondition(`errors > 1% || ${term}`)
    assert.ok(problem?.startsWith(`'${term}' is not a condition; use `), term)
  }
  assert.equal(parseAbortCondition('errors>=0.5%||p50 > 2.5x || p99 > 300ms').problem, null)
})
