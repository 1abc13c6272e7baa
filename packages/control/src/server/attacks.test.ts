import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { bundleOf, MEMBERS_PATH } from '@sluice/control-client'
import { WebSocket } from 'ws'
import { documentWith, TestController, until } from '../testing/test-controller.js'

const STATE = {
  ...{ digest: null, deploy: 0, isReady: true, reason: null, workers: 1 },
  ...{ at: '2026-01-01T00:00:00Z', figures: null },
}
const status = { type: 'status', ...STATE }

function helloOf(changes: object = {}) {
  const own = { member: randomUUID(), name: 'rogue', group: 'edge', version: '1', adminUrl: null }
  return { type: 'hello', protocol: 1, ...own, ...STATE, ...changes }
}

/** A member that sends whatever it likes. */
class RogueMember {
  readonly socket: WebSocket
  /** Types of the messages so far. */
  readonly received: string[] = []
  /** Code and reason of the end of the connection, or null. */
  closed: string | null = null

  constructor(t: TestContext, url: string, token: string, headers: Readonly<Record<string, string>> = {}) {
    const all = { authorization: `Bearer ${token}`, ...headers }
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${MEMBERS_PATH}`, { headers: all })
    this.socket.on('message', (content: Buffer, isBinary: boolean) => {
      this.received.push(
        isBinary ? 'chunk' : (JSON.parse(content.toString()) as { readonly type: string }).type,
      )
    })
    this.socket.on('error', ({ message }) => (this.closed ??= message))
    this.socket.on('close', (code, reason) => (this.closed ??= `${code} ${reason.toString()}`))
    t.after(() => this.socket.terminate())
  }

  /** Sends messages after the connection is open. Texts and buffers are sent as they are. */
  async send(...messages: readonly (object | string | Buffer)[]): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    for (const message of messages)
      this.socket.send(
        typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
      )
  }

  async got(type: string): Promise<void> {
    await until(() => this.received.includes(type))
  }

  async ended(): Promise<string> {
    await until(() => this.closed !== null)
    return this.closed!
  }
}

test('a stolen token is of no use for other groups, and none of a member for the API', async (t) => {
  const controller = await TestController.start(t)
  const core = await controller.deploy('core', documentWith('/secret'))
  await controller.deploy('edge', documentWith('/a'))
  const admin = await controller.token('admin', ['edge'])
  const member = await controller.token('member', ['edge'])
  const { deploy } = core.body
  const { manifest } = bundleOf(new Map([['gateway.yaml', Buffer.from(documentWith('/secret'))]]))
  const other = `/v1/groups/core/members/${randomUUID()}`
  const rows: readonly (readonly [string, string, number, object?])[] = [
    ['GET', `/v1/groups/core/deploys/${deploy}/files/gateway.yaml`, 403],
    ['GET', `/v1/groups/edge/deploys/${deploy}/files/gateway.yaml`, 404],
    ['GET', `/v1/groups/edge/deploys/${deploy}/manifest`, 404],
    ['GET', `/v1/groups/edge%2F..%2Fcore/deploys/${deploy}/manifest`, 403],
    ['GET', '/v1/groups/core/diff', 403],
    ['GET', `/v1/groups/edge/diff?to=${deploy}`, 404],
    ['GET', '/v1/members?group=core', 403],
    ['GET', '/v1/audit?group=core', 200],
    ['POST', '/v1/groups/core/deploys', 403, { manifest }],
    ['POST', '/v1/groups/core/rollback', 403, {}],
    ['POST', '/v1/groups/edge/rollback', 404, { to: deploy }],
    ['DELETE', other, 403],
    ['DELETE', `/v1/tokens/${randomUUID()}`, 403],
    ['POST', '/v1/tokens', 403, { name: 'x', role: 'admin', groups: ['*'] }],
  ]
  for (const [method, path, expected, body] of rows) {
    const sent = body === undefined ? {} : { body }
    const answer = await controller.call(method, path, { token: admin, ...sent })
    assert.equal(answer.status, expected, `${method} ${path}: ${answer.text}`)
    assert.doesNotMatch(answer.text, /secret/)
    const { status } = await controller.call(method, path, { token: member, ...sent })
    assert.ok([400, 403].includes(status), `${method} ${path}`)
  }
  const { text } = await controller.call('GET', '/v1/audit', { token: admin })
  assert.doesNotMatch(text, /core/)
  assert.match(text, /edge/)
})

test('what a rogue member sends ends its own connection only', async (t) => {
  const controller = await TestController.start(t)
  const good = await controller.member({ name: 'good' })
  await controller.deploy('edge', documentWith('/a'))
  const token = await controller.token('member', ['edge'])
  const want = { type: 'want', deploy: 1, chunks: [] }
  const rows: readonly (readonly [string, readonly (object | string | Buffer)[], RegExp])[] = [
    ['another group', [helloOf({ group: 'core' })], /^1008 the token is not for this group$/],
    ['no group', [helloOf({ group: '../edge' })], /^1008 the name of the group is invalid$/],
    ['another member', [helloOf({ member: good.id })], /^1008 this member is connected with another token$/],
    ['no hello', [status], /^1008 the first message must be hello$/],
    ['another version', [helloOf({ protocol: 2 })], /^1008 the controller speaks version 1/],
    ['a link that runs', [helloOf({ adminUrl: 'javascript:alert(1)' })], /^1008 invalid message$/],
    ['a field too many', [helloOf({ role: 'admin' })], /^1008 invalid message$/],
    ['a prototype', ['{"__proto__":{"type":"hello"}}'], /^1008 invalid message$/],
    ['no JSON', ['{'], /^1008 invalid message$/],
    ['deep JSON', ['['.repeat(1_000_000)], /^1008 invalid message$/],
    ['a binary message', [helloOf(), Buffer.alloc(8)], /^1008 invalid message$/],
    ['a giant message', [helloOf(), 'x'.repeat(1_600_000)], /^1009/],
    [
      'a report without limits',
      [helloOf(), { ...status, reason: 'x'.repeat(2001) }],
      /^1008 invalid message$/,
    ],
    ['too many reports', [helloOf(), ...Array<object>(2001).fill(status)], /^1008 too many messages$/],
    [
      'too many requests',
      [helloOf(), ...Array<object>(20).fill(want)],
      /^1008 too many requests for chunks$/,
    ],
  ]
  for (const [name, messages, expected] of rows) {
    const rogue = new RogueMember(t, controller.url, token)
    await rogue.send(...messages)
    assert.match(await rogue.ended(), expected, name)
  }
  assert.deepEqual([good.isConnected, good.problems], [true, []])
  for (const { name, status } of (await controller.call('GET', '/v1/members')).body.members)
    assert.equal(status, name === 'good' ? 'inSync' : 'away')
})

test('replayed and reordered messages of a member count for nothing', async (t) => {
  const controller = await TestController.start(t)
  const good = await controller.member({ name: 'good' })
  const rogue = new RogueMember(t, controller.url, await controller.token('member'))
  await rogue.send(helloOf())
  await rogue.got('welcome')
  const vote = { type: 'vote', vote: 'prepared', reasons: [] }
  const outcome = { type: 'outcome', outcome: 'active', reasons: [] }
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  // Answers about deploys that do not exist yet, and a second introduction.
  await rogue.send(
    ...numbers.flatMap((deploy) => [
      { ...vote, deploy },
      { ...outcome, deploy },
    ]),
  )
  await rogue.send(helloOf({ group: 'core' }))
  const running = controller.deploy('edge', documentWith('/a'), { options: { deadlineMs: 1000 } })
  await rogue.got('prepare')
  await rogue.send(...numbers.slice(0, 3).map((deploy) => ({ ...vote, deploy })), { ...outcome, deploy: 4 })
  const { status, body } = await running
  assert.deepEqual([status, body.deploy], [409, 4])
  assert.match(body.detail, /rogue did not answer in time/)
  assert.equal(good.digest, null)
  // A request for chunks of an aborted deploy, or of another group.
  const core = await controller.deploy('core', documentWith('/secret'))
  const chunks = bundleOf(new Map([['gateway.yaml', Buffer.from(documentWith('/secret'))]])).chunks.keys()
  await rogue.send({ type: 'want', deploy: core.body.deploy, chunks: [...chunks] })
  await rogue.got('missing')
  assert.ok(!rogue.received.includes('chunk'))
  const { body: fleet } = await controller.call('GET', '/v1/members')
  assert.deepEqual(
    fleet.members.map(({ group }) => group),
    ['edge', 'edge'],
  )
})

test('a token can add a limited number of members and connections', async (t) => {
  const controller = await TestController.start(t, { maxMembersPerToken: 3 })
  const token = await controller.token('member')
  const rogues = [1, 2, 3, 4, 5, 6].map(() => new RogueMember(t, controller.url, token))
  const hellos = rogues.map(() => helloOf())
  for (const [i, rogue] of rogues.entries()) await rogue.send(hellos[i]!)
  for (const rogue of rogues.slice(3))
    assert.equal(await rogue.ended(), '1008 the token has 3 known members, the maximum; see gw fleet forget')
  // Members that are away count, because quorums count them.
  rogues[0]!.socket.terminate()
  const isAway = async () =>
    (await controller.call('GET', '/v1/members')).body.members.some(({ status }) => status === 'away')
  await until(isAway)
  const next = new RogueMember(t, controller.url, token)
  await next.send(helloOf())
  assert.match(await next.ended(), /the maximum/)
  const again = new RogueMember(t, controller.url, token)
  await again.send(hellos[0]!)
  await again.got('welcome')
  const idle = [1, 2, 3].map(() => new RogueMember(t, controller.url, token))
  await Promise.all(idle.map((one) => one.send()))
  assert.match(await new RogueMember(t, controller.url, token).ended(), /503/)
  const other = await controller.member({ name: 'other' })
  assert.equal(other.isConnected, true)
  for (const one of idle) assert.equal(await one.ended(), '1008 no hello')
})

test('giant and unexpected bodies are refused', async (t) => {
  const controller = await TestController.start(t)
  const json = { 'content-type': 'application/json' }
  const levels = [...'abcdefghij'].map((name, i) => {
    const entry = i === 0 ? '"lol"' : `*${String.fromCharCode(96 + i)}`
    return `${name}: &${name} [${Array(10).fill(entry).join()}]\n`
  })
  const rows: readonly (readonly [string, string, Buffer, Readonly<Record<string, string>>, number])[] = [
    ['a giant body', 'chunks/missing', Buffer.alloc(4_200_000, ' '), json, 413],
    ['giant chunks', 'chunks', Buffer.alloc(9_000_000), {}, 413],
    ['deep JSON', 'chunks/missing', Buffer.alloc(4_000_000, '['), json, 400],
    [
      'many digests',
      'chunks/missing',
      Buffer.from(JSON.stringify({ chunks: Array(20_001).fill('0'.repeat(64)) })),
      json,
      400,
    ],
    ['a prototype', 'chunks/missing', Buffer.from('{"__proto__":{"chunks":[]}}'), json, 400],
    [
      'a form',
      'groups/edge/rollback',
      Buffer.from('to=1'),
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
    ],
    ['chunks without lengths', 'chunks', Buffer.from('\xff\xff\xff\xff', 'latin1'), {}, 400],
  ]
  for (const [name, path, body, headers, expected] of rows)
    assert.equal((await controller.call('POST', `/v1/${path}`, { body, headers })).status, expected, name)
  const bomb = await controller.deploy('edge', `version: 1\n${levels.join('')}`)
  assert.deepEqual([bomb.status, bomb.body.code], [422, 'GW_CONTROL_DOCUMENT_INVALID'], bomb.text)
  assert.equal((await controller.deploy('edge', documentWith('/a'))).status, 200)
})

test('requests that web pages make a browser send are refused', async (t) => {
  const controller = await TestController.start(t, { hosts: ['control.example.org'] })
  const statusOf = async (headers: Readonly<Record<string, string>>, path: string): Promise<number> => {
    const all = { authorization: `Bearer ${controller.adminToken}`, ...headers }
    const sent = request(`${controller.url}${path}`, { headers: all }).end()
    const [answer] = (await once(sent, 'response')) as [{ readonly statusCode: number; resume(): void }]
    answer.resume()
    return answer.statusCode
  }
  const token = await controller.token('member')
  const rows: readonly (readonly [Readonly<Record<string, string>>, boolean])[] = [
    [{}, true],
    [{ host: 'localhost' }, true],
    [{ host: 'control.example.org:9443' }, true],
    [{ host: 'evil.example' }, false],
    [{ host: 'control.example.org.evil.example' }, false],
    [{ host: '127.0.0.1.evil.example' }, false],
    [{ host: '127.0.0.1@evil.example' }, false],
    [{ host: 'localhost:1:2' }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
  ]
  for (const [headers, isAllowed] of rows) {
    const name = JSON.stringify(headers)
    for (const path of ['/healthz', '/v1/groups', '/nothing'])
      assert.equal((await statusOf(headers, path)) === 403, !isAllowed, `${path} ${name}`)
    const socket = new RogueMember(t, controller.url, token, headers)
    await until(() => socket.closed !== null || socket.socket.readyState === WebSocket.OPEN)
    assert.equal(socket.closed, isAllowed ? null : 'Unexpected server response: 403', name)
  }
})
