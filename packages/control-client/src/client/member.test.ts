import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Bundle, bundleOf } from '../manifest/manifest.js'
import { MAX_MESSAGE_BYTES } from '../protocol/messages.js'
import { ScriptedController, type ScriptedMember, testBundle } from '../testing/scripted-controller.js'
import { TestMember, type TestMemberOptions } from '../testing/test-member.js'

const ONE = testBundle('one')
const TWO = testBundle('two')

function enroll(t: TestContext, urls: readonly string[], options: TestMemberOptions = {}) {
  const gateway = new TestMember(t, urls, { group: 'g', ...options })
  return { gateway, folder: gateway.folder, member: gateway.member }
}

async function until<T>(condition: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const value = condition()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function joined(
  t: TestContext,
  options: TestMemberOptions = {},
): Promise<
  ReturnType<typeof enroll> & { readonly link: ScriptedMember; readonly controller: ScriptedController }
> {
  const controller = await ScriptedController.start(t)
  const all = enroll(t, [controller.url], options)
  await until(() => all.member.status.isConnected)
  return { ...all, controller, link: controller.member! }
}

test('a member says who it is, then reports, prepares and activates', async (t) => {
  const { link, gateway, folder, controller } = await joined(t)
  assert.deepEqual(controller.authorizations, ['Bearer secret'])
  const hello = link.received[0]
  assert.ok(hello?.type === 'hello')
  assert.deepEqual([hello.member, hello.group, hello.digest, hello.deploy], [folder.member, 'g', null, 0])
  assert.equal(await link.ask('prepare', 3, ONE), 'prepared')
  assert.equal(folder.active, null)
  assert.equal(await link.settle('activate', 3), 'active')
  assert.equal(await link.settle('activate', 3), 'active')
  const { digest, deploy } = await link.next('status')
  assert.deepEqual([digest, deploy], [ONE.digest, 3])
  assert.deepEqual(gateway.journal, ['prepare 3', 'activate 3', 'serve 3'])
})

test('only changed chunks travel', async (t) => {
  const { link } = await joined(t)
  const text = Array.from({ length: 5000 }, (_, i) => `- route ${i}\n`).join('')
  const first = testBundle(text)
  assert.equal(await link.ask('serve', 1, first), 'active')
  assert.equal(link.sentChunks, first.chunks.size)
  assert.equal(await link.ask('serve', 2, testBundle(text.replace('route 7\n', 'route new\n'))), 'active')
  assert.ok(link.sentChunks <= first.chunks.size + 3)
})

test('orders of the past are refused, those of another store are not', async (t) => {
  const { link, controller, folder } = await joined(t)
  assert.equal(await link.ask('serve', 5, ONE), 'active')
  assert.match(await link.ask('serve', 4, TWO), /^refused: deploy 4 is older than the active deploy 5$/)
  assert.match(await link.ask('prepare', 4, TWO), /^refused: deploy 4 is older/)
  assert.match(await link.ask('prepare', 5, ONE), /^refused: deploy 5 is active already/)
  assert.match(await link.ask('serve', 5, TWO), /^refused: deploy 5 is active already/)
  assert.equal(await link.ask('serve', 5, ONE), 'active')
  assert.equal(folder.active?.digest, ONE.digest)
  controller.close()
  const store = '00000000-0000-4000-8000-000000000002'
  const other = await ScriptedController.start(t, { port: controller.port, store })
  const next = await until(() => (other.member?.received.length ?? 0) > 0 && other.member)
  assert.equal(await next.ask('serve', 1, TWO), 'active')
})

test('another order takes the place of a prepared one, and an activation that comes too late finds nothing', async (t) => {
  const { link, gateway } = await joined(t)
  assert.equal(await link.ask('prepare', 1, ONE), 'prepared')
  assert.equal(await link.ask('prepare', 2, TWO), 'prepared')
  assert.equal(await link.settle('activate', 1), 'expired')
  assert.equal(await link.ask('serve', 3, ONE), 'active')
  assert.equal(await link.settle('activate', 2), 'expired')
  assert.deepEqual(gateway.journal, ['prepare 1', 'discard 1', 'prepare 2', 'discard 2', 'serve 3'])
})

test('a prepared bundle that the controller then wants to be served is activated', async (t) => {
  const { link, gateway } = await joined(t)
  assert.equal(await link.ask('prepare', 1, ONE), 'prepared')
  assert.equal(await link.ask('serve', 1, ONE), 'active')
  assert.deepEqual(gateway.journal, ['prepare 1', 'activate 1', 'serve 1'])
})

test('a refusal names its reasons', async (t) => {
  const { link, gateway } = await joined(t)
  gateway.refusal = 'worker 2: no'
  assert.equal(await link.ask('prepare', 1, ONE), 'refused: worker 2: no')
  assert.equal(await link.settle('discard', 1), 'discarded')
})

test('a chunk with a wrong digest refuses the order and ends the connection', async (t) => {
  const { link, member, gateway, controller } = await joined(t)
  link.onWant = () => Buffer.from('something else')
  assert.match(await link.ask('prepare', 1, ONE), /^refused: .*wrong digest/)
  await until(() => controller.members.length > 1 && member.status.isConnected)
  assert.deepEqual(gateway.journal, [])
})

test('chunks that do not come refuse the order', async (t) => {
  const { link } = await joined(t, { chunkMs: 50 })
  link.onWant = null
  assert.match(await link.ask('prepare', 1, ONE), /^refused: the controller did not send 1 chunks$/)
  const answer = link.next('vote')
  link.order('prepare', 2, TWO)
  link.send({ type: 'missing', deploy: 2, chunks: [] })
  assert.deepEqual((await answer).reasons, ['the controller does not have all chunks of the bundle'])
})

test('chunks of an order that was given up are ignored', async (t) => {
  const { link, gateway } = await joined(t)
  const late = [...ONE.chunks.values()][0]!
  link.onWant = null
  link.order('prepare', 1, ONE)
  await link.next('want')
  link.onWant = (chunk) => chunk
  const answer = link.next('vote')
  link.order('prepare', 2, TWO)
  link.socket.send(late)
  assert.equal((await answer).vote, 'prepared')
  link.socket.send(late)
  assert.equal(await link.settle('activate', 2), 'active')
  assert.deepEqual(gateway.journal, ['prepare 2', 'activate 2', 'serve 2'])
})

test('a connection ends at what the protocol does not allow, and is opened again', async (t) => {
  const { link, member, controller } = await joined(t)
  const misdeeds: readonly ((link: ScriptedMember) => void)[] = [
    (one) => one.socket.send('{'),
    (one) => one.socket.send(JSON.stringify({ type: 'activate', deploy: 0 })),
    (one) => one.socket.send('x'.repeat(MAX_MESSAGE_BYTES + 1)),
    (one) => one.send({ type: 'welcome', protocol: 1, store: '0'.repeat(36), reportMs: 1000 }),
    (one) => one.socket.close(),
  ]
  let current = link
  for (const [i, misdeed] of misdeeds.entries()) {
    misdeed(current)
    current = await until(
      () => controller.members.length > i + 1 && member.status.isConnected && controller.member,
    )
  }
})

test('a controller that is silent, refuses, or speaks another version is left for the next one', async (t) => {
  const welcome = JSON.stringify({ type: 'welcome', protocol: 2, store: '0'.repeat(36), reportMs: 1000 })
  const bad = await Promise.all([
    ScriptedController.start(t, { welcome: null }),
    ScriptedController.start(t, { refuse: () => 403 }),
    ScriptedController.start(t, { welcome }),
  ])
  const good = await ScriptedController.start(t)
  const problems = new Set<string | null>()
  const { member } = enroll(
    t,
    [...bad, good].map(({ url }) => url),
    {
      times: { retryMs: 10, maxRetryMs: 10, handshakeMs: 300 },
      onConnection: ({ problem }) => problems.add(problem),
    },
  )
  await until(() => member.status.isConnected && member.status.url === good.url)
  assert.deepEqual(
    [...problems],
    [
      'the controller does not answer',
      'the controller refuses the connection with status 403: not you',
      'the controller has protocol version 2, not 1; upgrade the older one',
      null,
    ],
  )
})

test('a cut network is noticed without a sign from the system', async (t) => {
  const controller = await ScriptedController.start(t)
  const { member } = enroll(t, [controller.url], { times: { pingMs: 50, retryMs: 20, maxRetryMs: 20 } })
  const link = await until(() => member.status.isConnected && controller.member)
  // It receives nothing and sends nothing, but the connection stays.
  link.socket.pause()
  const problem = await until(() => !member.status.isConnected && member.status.problem)
  assert.equal(problem, 'the controller does not answer pings')
  await until(() => member.status.isConnected)
})

test('many members of one process get a bundle', async (t) => {
  const controller = await ScriptedController.start(t)
  const all = Array.from({ length: 30 }, () => enroll(t, [controller.url]))
  await until(() => all.every(({ member }) => member.status.isConnected))
  const bundle: Bundle = bundleOf(new Map([['gateway.yaml', Buffer.from('x'.repeat(200_000))]]))
  const votes = await Promise.all(controller.members.map((link) => link.ask('prepare', 1, bundle)))
  assert.ok(votes.every((vote) => vote === 'prepared'))
  const outcomes = await Promise.all(controller.members.map((link) => link.settle('activate', 1)))
  assert.ok(outcomes.every((outcome) => outcome === 'active'))
})
