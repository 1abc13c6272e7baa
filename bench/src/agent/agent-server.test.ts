import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { processTree } from '../process/process-use.js'
import { commandOf } from '../testing/processes.js'
import { type AgentSettings, serveAgent } from './agent-server.js'
import { LINES_TYPE } from './protocol.js'

const TOKEN = 'a-token-of-this-test'
const PLACE = { suite: 'smoke', scenario: 'get' }

interface Reply {
  readonly result?: unknown
  readonly error?: string
}

/** A request for a run. It goes on until it is destroyed. */
interface TestRun {
  readonly request: http.ClientRequest
  /** Status of the response. */
  status(): Promise<number>
  /** Sends a line and returns the reply, or null if the connection has ended. */
  send(line: unknown): Promise<Reply | null>
}

interface TestAgent {
  readonly port: number
  run(headers?: Readonly<Record<string, string>>, path?: string): TestRun
}

async function agentOf(t: TestContext, changes: Partial<AgentSettings> = {}): Promise<TestAgent> {
  const settings = { host: '127.0.0.1', port: 0, token: TOKEN, tls: null, maxRunMs: 600_000, ...changes }
  const agent = await serveAgent(settings)
  t.after(() => agent.stop())
  return {
    port: agent.port,
    run: (headers = {}, path = '/v1/run') => {
      const own = { authorization: `Bearer ${TOKEN}`, 'content-type': LINES_TYPE, ...headers }
      const request = http.request({ port: agent.port, path, method: 'POST', headers: own, agent: false })
      request.on('error', () => {})
      request.flushHeaders()
      const response = new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve))
      const lines = response.then((body) => {
        body.on('error', () => {})
        return createInterface({ input: body })[Symbol.asyncIterator]()
      })
      return {
        request,
        status: async () => (await response).statusCode!,
        send: async (line) => {
          request.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
          const { value, done = false } = await (await lines).next()
          return done ? null : (JSON.parse(value) as Reply)
        },
      }
    },
  }
}

/** Processes and folders that this process has started. */
function started(): { readonly pids: number[]; readonly folders: string[] } {
  return {
    pids: processTree(process.pid).filter((pid) => pid !== process.pid),
    folders: readdirSync(tmpdir()).filter((name) => name.startsWith('sluice-agent-')),
  }
}

test('nothing starts without the token', async (t) => {
  const { run } = await agentOf(t)
  const before = started()
  const wrong = ['', 'Bearer ', 'Bearer wrong-token-of-a-guess', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, TOKEN]
  for (const authorization of wrong) {
    const attempt = run({ authorization })
    assert.equal(await attempt.status(), 401)
    const reply = await attempt.send({ action: 'origin', input: PLACE })
    assert.deepEqual(reply, { error: 'the token is missing or wrong' })
  }
  assert.deepEqual(started(), before)
  assert.equal(await run().status(), 200)
})

test('an agent without a token answers only to names of this machine, and never to a form of a web page', async (t) => {
  const { port, run } = await agentOf(t, { token: null })
  const strangers = ['attacker.example', `attacker.example:${port}`, '127.0.0.1.attacker.example']
  for (const host of strangers) assert.equal(await run({ host }).status(), 403, host)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    assert.equal(await run({ 'content-type': type }).status(), 415)
  assert.equal(await run({}, '/v1/other').status(), 404)
  const local = run({ host: `localhost:${port}` })
  assert.equal(await local.status(), 200)
})

test('an oversized action ends the run before it is complete', async (t) => {
  const { run } = await agentOf(t)
  const one = run()
  assert.equal(await one.status(), 200)
  one.request.write('x'.repeat(20_000))
  assert.match((await one.send(''))!.error!, /an action has at most 16384 characters/)
  assert.equal(await one.send(''), null)
})

const TIMES = { connections: 1, warmUpSeconds: 0, perSecond: null, sampleCount: 0 }
const LOAD = { ...PLACE, ...TIMES, engine: 'wrk', target: 'http://127.0.0.1:1' }
const SYSTEMS = { ...PLACE, origin: 'http://a:1', peers: [], isPinned: false, isShared: true }
const REFUSED: readonly (readonly [action: unknown, input: unknown, problem: RegExp])[] = [
  ['shell', { command: 'id' }, /no such action/],
  ['constructor', {}, /no such action/],
  ['__proto__', {}, /no such action/],
  [{}, {}, /no such action/],
  ['origin', [], /must be object/],
  ['origin', undefined, /must be object/],
  ['origin', { ...PLACE, command: ['id'] }, /additional properties/],
  ['origin', { suite: '../../etc', scenario: 'passwd' }, /must match pattern/],
  ['systems', { ...SYSTEMS, origin: 'file:///etc/passwd' }, /origin must match/],
  ['systems', { ...SYSTEMS, origin: 'http://a:1/"};' }, /origin must match/],
  ['systems', { ...SYSTEMS, peers: ['sh'] }, /peers/],
  ['systems', { ...SYSTEMS, routes: [] }, /additional properties/],
  ['load', { ...LOAD, engine: '/bin/sh', seconds: 1 }, /engine/],
  ['load', { ...LOAD, seconds: 1e9 }, /seconds must be <=/],
  ['load', { ...LOAD, connections: 1e9, seconds: 1 }, /connections must be <=/],
]

test('only known actions with exact inputs are performed: no command, document or file of the caller', async (t) => {
  const { run } = await agentOf(t)
  const before = started()
  for (const [action, input, problem] of REFUSED) {
    const one = run()
    assert.match((await one.send({ action, input }))!.error!, problem)
    assert.equal(await one.send({ action: 'clock', input: {} }), null, 'the run has ended')
  }
  for (const text of ['{', 'null', '7']) {
    const one = run()
    assert.match((await one.send(text))!.error!, /JSON|no such action|null/)
    assert.equal(await one.send(''), null)
  }
  assert.deepEqual(started(), before)
  const unknown = await run().send({ action: 'origin', input: { suite: 'smoke', scenario: 'no-such' } })
  assert.match(unknown!.error!, /has no scenario 'no-such'/)
})

test('a second run is refused while one is active, and is possible after it', async (t) => {
  const { run } = await agentOf(t)
  const first = run()
  assert.equal(await first.status(), 200)
  const second = run()
  assert.equal(await second.status(), 409)
  assert.match((await second.send(''))!.error!, /another run is active/)
  assert.equal(typeof (await first.send({ action: 'clock', input: {} }))!.result, 'number')
  first.request.destroy()
  await until(async () => (await run().status()) === 200, 'the agent is free')
})

test('all processes and folders of a run end when its coordinator vanishes', async (t) => {
  const { run } = await agentOf(t)
  const before = started()
  const one = run()
  const origin = await one.send({ action: 'origin', input: PLACE })
  const { port } = origin!.result as { port: number }
  const target = `http://127.0.0.1:${port}`
  const load = { ...PLACE, ...TIMES, engine: 'autocannon', target }
  const loading = one.send({ action: 'load', input: { ...load, seconds: 3600 } }).catch(() => null)
  await until(() => started().pids.some((pid) => commandOf(pid).includes('autocannon-program')), 'load')
  assert.ok(started().folders.length > before.folders.length)
  one.request.destroy()
  await until(() => JSON.stringify(started()) === JSON.stringify(before), 'nothing is left')
  await loading
})

test('a run ends after its maximum duration, with everything that it started', async (t) => {
  const { run } = await agentOf(t, { maxRunMs: 1 })
  const before = started()
  const one = run()
  assert.equal(await one.send({ action: 'origin', input: PLACE }).catch(() => null), null)
  await until(() => JSON.stringify(started()) === JSON.stringify(before), 'nothing is left')
})

test('another version is refused, because its scenarios may differ', async (t) => {
  const { run } = await agentOf(t)
  const reply = await run().send({ action: 'facts', input: { version: '0.0.0' } })
  assert.match(reply!.error!, /use the same version/)
})
