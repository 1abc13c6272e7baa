import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PostgresServer, postgresSkip } from '@sluice/control/testing/postgres-server'
import { bundleOf } from '@sluice/control-client'
import type { MemberProxy } from '@sluice/control-client/testing'
import { type DeployAnswer, GatewayGroup, type GroupGateway } from './testing/gateway-group.js'
import { KnownLoad } from './testing/known-load.js'
import { fileWith, scratch, until } from './testing.js'

/** Responses of each gateway before and after a fault. */
const RESPONSES = 20
const TEN_MINUTES_MS = 600_000

/** The engine `node` keeps idle connections longer: a busy machine can pause the requests for more than 10 s. */
const documentOf = (label: string, more = ''): string => `version: 1
listeners: [{ address: '127.0.0.1:0', engine: node }]
admin: { address: '127.0.0.1:0' }
log: { sink: none }
routes:
  - id: all
    match: { path: '/r/*' }
    respond: { status: 200, body: ${label} }
${more}`

/** Variables of a process whose clock is wrong. */
function clockOff(ms: number): Record<string, string> {
  const code = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + ${ms}) }
    static now() { return Real.now() + ${ms} }
  }`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` }
}

/** Small disks that only processes of a program see. */
interface Disks {
  readonly node: string
  fill(dir: string): void
  free(dir: string): void
}

/** Mounts a small disk at each folder. Returns null without mount namespaces. */
async function smallDisks(t: TestContext, dirs: readonly string[]): Promise<Disks | null> {
  const mounts = dirs.map((dir) => `mount -t tmpfs -o size=16m none '${dir}' && `).join('')
  const holder = spawn('unshare', ['-m', 'sh', '-c', `${mounts}echo ready && exec sleep infinity`])
  t.after(() => holder.kill('SIGKILL'))
  holder.on('error', () => {})
  if (!(await Promise.race([once(holder.stdout, 'data'), once(holder, 'close').then(() => null)])))
    return null
  const program = `exec nsenter -t ${holder.pid} -m -- '${process.execPath}' "$@"`
  const node = fileWith(t, `#!/bin/sh\n${program}\n`, 'node')
  chmodSync(node, 0o755)
  const filler = (dir: string): string => join(`/proc/${holder.pid}/root`, dir, 'filler')
  const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOSPC'
  return {
    node,
    fill: (dir) => assert.throws(() => writeFileSync(filler(dir), Buffer.alloc(17 * 1024 ** 2)), isFull),
    free: (dir) => rmSync(filler(dir)),
  }
}

/** What a fault acts on. */
interface Trial {
  readonly t: TestContext
  readonly group: GatewayGroup
  readonly load: KnownLoad<string>
  /** Label of the document that the group serves. */
  readonly before: string
  /** Label of the document to deploy. */
  readonly next: string
  readonly disks: Disks | null
  readonly store: string
  readonly dataDir: string
}

/** A fault of a group of gateways. */
interface Fault {
  readonly name: string
  readonly skip?: string | false
  /** Deploys the next document while something fails. Resolves when nothing fails any more. */
  run(trial: Trial): Promise<void>
  /** Document that the group serves then. */
  readonly served: 'before' | 'next'
}

function holdAll(proxies: readonly MemberProxy[], ...types: readonly string[]): void {
  for (const proxy of proxies) proxy.hold(...types)
}

/** A kill of the controller at a step of a deploy. */
interface Step {
  readonly name: string
  readonly served: Fault['served']
  /** Type of the messages that are held back. */
  readonly held: string
  /** Returns the proxies that hold them back. */
  readonly by: (proxies: readonly MemberProxy[]) => readonly MemberProxy[]
  /** Type of the messages that the others have passed on. */
  readonly passed?: string
  /** True if the controller does not read the messages that are passed on at last. */
  readonly isUnread?: boolean
}

const all = (proxies: readonly MemberProxy[]) => proxies
/** Two of three gateways, and some clients. */
const some = (proxies: readonly MemberProxy[]) => proxies.filter((_, i) => i % 2 === 0)
const STEPS: readonly Step[] = [
  { name: 'stored', served: 'before', held: 'prepare', by: all },
  { name: 'sent', served: 'before', held: 'vote', by: all, passed: 'prepare' },
  { name: 'prepared by some', served: 'before', held: 'vote', by: some, passed: 'vote' },
  { name: 'prepared by all', served: 'before', held: 'vote', by: (it) => it.slice(0, 1), isUnread: true },
  { name: 'decided', served: 'next', held: 'activate', by: all },
  { name: 'activated by some', served: 'next', held: 'activate', by: some, passed: 'outcome' },
]

function killedWhen({ name, served, held, by, passed, isUnread = false }: Step): Fault {
  const run = async ({ group, load, before, next }: Trial): Promise<void> => {
    const holding = by(group.proxies)
    const others = group.proxies.filter((proxy) => !holding.includes(proxy))
    for (const proxy of group.proxies) proxy.passed.length = 0
    holdAll(holding, held)
    const deploy = group.deploy(documentOf(next)).catch(() => null)
    await until(() => holding.every((proxy) => proxy.isHolding(held)))
    if (passed !== undefined) await until(() => others.every((proxy) => proxy.passed.includes(passed)))
    if (isUnread) {
      group.controller.process.kill('SIGSTOP')
      holdAll(holding)
      await until(() => holding.every((proxy) => proxy.passed.includes(held)))
    }
    await group.killController()
    await deploy
    for (const proxy of group.proxies) proxy.mend()
    await load.served(namesOf(group), RESPONSES)
    for (const label of await labelsOf(group)) assert.ok([before, next].includes(label), label)
    await group.startController()
    if (served === 'before')
      await until(async () =>
        /the controller that coordinated it stopped/.test(await group.gw('history', '--group', 'edge')),
      )
  }
  return { name: `controller killed: ${name}`, served, run }
}

function committed({ status, detail }: DeployAnswer): void {
  assert.equal(status, 200, detail)
}

const namesOf = ({ gateways }: GatewayGroup): string[] => gateways.map(({ name }) => name)
const labelsOf = ({ gateways }: GatewayGroup): Promise<string[]> =>
  Promise.all(gateways.map((gateway) => gateway.label()))
const awayIn = async (group: GatewayGroup): Promise<number> =>
  (await group.fleet()).filter(({ status }) => status === 'away').length

let database: PostgresServer

const FAULTS: readonly Fault[] = [
  {
    name: 'no fault',
    run: async ({ group, next }) => committed(await group.deploy(documentOf(next))),
    served: 'next',
  },
  ...STEPS.map(killedWhen),
  {
    name: 'members that hang while they prepare',
    run: async ({ group, next }) => {
      const [hanging] = group.clients
      hanging!.isHanging = true
      group.proxies[1]!.hold('vote')
      const { status, detail } = await group.deploy(documentOf(next), { deadlineMs: 2000 })
      assert.equal(status, 409)
      assert.match(detail!, /client-0 did not answer in time.*gateway-1 did not answer in time/)
    },
    served: 'before',
  },
  {
    name: 'a member that refuses',
    run: async ({ group, next }) => {
      const { status, detail } = await group.deploy(documentOf(next, 'environment: "${env:SOME_HAVE_IT}"\n'))
      assert.equal(status, 409)
      assert.match(detail!, /gateway-0 refused: .*SOME_HAVE_IT/)
      assert.doesNotMatch(detail!, /gateway-1/)
    },
    served: 'before',
  },
  {
    name: 'the network of 30 % of the members cut, and back',
    run: async ({ group, load, before, next }) => {
      const cut = [0, 3, 4].map((i) => group.proxies[i]!)
      for (const proxy of cut) proxy.cut()
      await until(async () => (await awayIn(group)) === cut.length)
      committed(await group.deploy(documentOf(next)))
      await load.served(namesOf(group), RESPONSES)
      assert.deepEqual(await labelsOf(group), [before, next, next])
      const fleet = await group.gw('fleet')
      for (const name of ['gateway-0', 'client-0', 'client-1']) {
        assert.match(fleet, new RegExp(`^${name}: not connected$`, 'm'))
        assert.match(fleet, new RegExp(`^${name}: 1 deploys behind$`, 'm'))
      }
    },
    served: 'next',
  },
  {
    name: 'clocks ten minutes off',
    run: async ({ group, next }) => {
      const ahead = /^gateway-2: its clock is (9|10)m \d+s ahead$/m
      assert.match(await group.gw('fleet'), ahead)
      group.controller.process.kill('SIGTERM')
      assert.equal(await group.controller.exited, 0)
      await group.startController({ env: clockOff(TEN_MINUTES_MS) })
      await until(async () => (await awayIn(group)) === 0)
      assert.match(await group.gw('fleet'), /^gateway-1: its clock is (9|10)m \d+s behind$/m)
      committed(await group.deploy(documentOf(next)))
    },
    served: 'next',
  },
  {
    name: 'two deploys at once',
    run: async ({ group, next }) => {
      group.proxies[0]!.hold('vote')
      const first = group.deploy(documentOf(next))
      await until(() => group.proxies[0]!.isHolding('vote'))
      const second = await group.deploy(documentOf('second'))
      assert.deepEqual([second.status, second.code], [409, 'GW_CONTROL_DEPLOYING'])
      group.proxies[0]!.hold()
      committed(await first)
    },
    served: 'next',
  },
  {
    name: 'a member restarted while the controller is away',
    run: async ({ group, before }) => {
      await group.killController()
      const [gateway] = group.gateways
      gateway!.process.process.kill('SIGTERM')
      await gateway!.process.exited
      gateway!.start()
      await gateway!.listening()
      assert.equal(await gateway!.label(), before)
      await group.startController()
    },
    served: 'before',
  },
  {
    name: 'a full disk of the controller',
    run: async ({ t, group, next, disks, store }) => {
      if (disks === null) return t.skip('no mount namespace for a small disk')
      disks.fill(store)
      const { status, code, detail } = await group.deploy(documentOf(next))
      assert.deepEqual([status, code], [503, 'GW_CONTROL_STORE_UNAVAILABLE'])
      assert.match(detail!, /no space left/)
      assert.equal(await awayIn(group), 0)
      disks.free(store)
    },
    served: 'before',
  },
  {
    name: 'a full disk of a member',
    run: async ({ t, group, next, disks, dataDir }) => {
      if (disks === null) return t.skip('no mount namespace for a small disk')
      disks.fill(dataDir)
      const { status, detail } = await group.deploy(documentOf(next))
      assert.equal(status, 409)
      assert.match(detail!, /gateway-1 refused: cannot store the bundle: .*no space left/)
      disks.free(dataDir)
    },
    served: 'before',
  },
  {
    name: 'another store: PostgreSQL',
    skip: postgresSkip,
    run: async ({ group, next }) => {
      await group.killController()
      await group.startController({ store: await database.database() })
      await until(async () => (await group.fleet()).length === group.proxies.length)
      committed(await group.deploy(documentOf(next)))
    },
    served: 'next',
  },
  {
    name: 'the database killed during a deploy, and back',
    skip: postgresSkip,
    run: async ({ group, load, before, next }) => {
      group.proxies[0]!.hold('vote')
      const deploy = group.deploy(documentOf(next))
      await until(() => group.proxies[0]!.isHolding('vote'))
      await database.kill()
      group.proxies[0]!.hold()
      const other = await group.deploy(documentOf('other'))
      assert.equal(other.code, 'GW_CONTROL_STORE_UNAVAILABLE')
      await load.served(namesOf(group), RESPONSES)
      assert.deepEqual(await labelsOf(group), [before, before, before])
      await database.run()
      committed(await deploy)
    },
    served: 'next',
  },
]

/** Starts requests with known numbers to all gateways. */
function loadOn({ gateways }: GatewayGroup, first: number): KnownLoad<string> {
  const names = new WeakMap<Socket, string>()
  const opener = (gateway: GroupGateway) => () => {
    const socket = gateway.connect()
    names.set(socket, gateway.name)
    return socket
  }
  const serverOf = (socket: Socket): string => names.get(socket)!
  return new KnownLoad(gateways.map(opener), { clients: 2, serverOf, first }).begin()
}

test('gateways of a disturbed group serve one of two documents and fail no request', async (t) => {
  const folder = scratch(t)
  const [store, dataDir] = [join(folder, 'store'), join(folder, 'gateway-1')]
  for (const dir of [store, dataDir]) mkdirSync(dir)
  const disks = await smallDisks(t, [store, dataDir])
  if (postgresSkip === false) database = await PostgresServer.start(t)
  const group = await GatewayGroup.start(t, {
    ...{ gateways: 3, clients: 7, isProxied: true, store },
    ...(disks === null ? {} : { node: disks.node }),
    env: (i) => [{}, { SOME_HAVE_IT: 'x' }, { SOME_HAVE_IT: 'x', ...clockOff(TEN_MINUTES_MS) }][i]!,
    dataDir: (i) => (i === 1 ? dataDir : undefined),
  })
  let before = 'first'
  committed(await group.deploy(documentOf(before)))
  for (const gateway of group.gateways) await gateway.listening()
  // Loading the commands' modules takes long.
  for (const command of [['fleet'], ['history', '--group', 'edge']]) await group.gw(...command)
  let sent = 0
  for (const [i, { name, skip = false, run, served }] of FAULTS.entries())
    await t.test(name, { skip }, async (t) => {
      const load = loadOn(group, sent)
      const next = `document-${i}`
      try {
        await load.served(namesOf(group), RESPONSES)
        try {
          await run({ t, group, load, before, next, disks, store, dataDir })
        } finally {
          for (const proxy of group.proxies) proxy.mend()
          for (const client of group.clients) client.isHanging = false
        }
        await load.served(namesOf(group), RESPONSES)
        if (served === 'next') before = next
        const { digest } = bundleOf(new Map([['gateway.yaml', Buffer.from(documentOf(before))]]))
        const isSettled = async (): Promise<boolean> =>
          (await group.fleet()).every((member) => member.status === 'inSync' && member.digest === digest)
        await until(isSettled, () => JSON.stringify(load.failures))
        for (const client of group.clients) assert.equal(client.digest, digest)
        assert.deepEqual(await labelsOf(group), [before, before, before])
      } finally {
        await load.stop()
        sent = load.sent
      }
      assert.deepEqual(load.failures, [])
    })
})
